#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct CompareArgs {
  RunId run;
  VersionId a;
  VersionId b;

  static constexpr void fields(auto&& visit) {
    visit(required<&CompareArgs::run>(), required<&CompareArgs::a>("The earlier one."),
          required<&CompareArgs::b>("The later one."));
  }
};

Result<RunSubject> profiled(const Services& services, const RunId& run, VersionId version) {
  auto subject = services.runs.subject(run, version);
  if (!subject) return subject.error();
  if (!subject->profile)
    return Error{ErrorCode::wrong_stage, version.text() + " has no profile",
                 "Name two profiled versions; run_status lists them."};
  return subject;
}

}  // namespace

Tool compare_versions(const Services& services) {
  return make_tool<CompareArgs, VersionDiff>(
      {.name = "compare_versions",
       .summary = "Compare two profiled versions: time, counters, resources, findings, source and "
                  "machine code.",
       .effect = Effect::reads,
       .toolset = Toolset::analysis},
      [services](const CompareArgs& args, CallContext& call) -> Result<VersionDiff> {
        auto a = profiled(services, args.run, args.a);
        if (!a) return a.error();
        auto b = profiled(services, args.run, args.b);
        if (!b) return b.error();
        return services.lab.compare(a->contract, {&a->candidate, &*a->profile},
                                    {&b->candidate, &*b->profile}, call);
      });
}

}  // namespace ratchet
