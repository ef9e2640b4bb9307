#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"
#include "tools/builds.h"
#include "tools/sources.h"

namespace ratchet {
namespace {

struct SubmitKernelArgs {
  RunId run;
  std::optional<std::string> source;
  std::optional<std::string> path;
  std::optional<VersionId> version;
  std::optional<std::string> note;

  static constexpr void fields(auto&& visit) {
    using A = SubmitKernelArgs;
    visit(required<&A::run>(), optional<&A::source>(),
          optional<&A::path>("Or a file inside the allowed roots.", {.max_length = 4096}),
          optional<&A::version>("Expected open version; refused when another one is open."),
          optional<&A::note>("One line for the attempt ledger.", {.max_length = 500}));
  }
};

struct SubmitKernelAnswer : RunView {
  std::string candidate;
  BuildRecord build;

  static constexpr void fields(auto&& visit) {
    using A = SubmitKernelAnswer;
    RunView::fields(visit);
    visit(required<&A::candidate>("SHA-256 of the source."),
          required<&A::build>("Result of the build."));
  }
  [[nodiscard]] std::string text(Json answer) const {
    answer.erase("candidate");
    answer["build"] = in_brief(answer["build"]);
    return readable_text(answer, {"build"});
  }
};

}  // namespace

Tool submit_kernel(const Services& services) {
  return make_tool<SubmitKernelArgs, SubmitKernelAnswer>(
      {.name = "submit_kernel",
       .summary =
           "Submit the open version's kernel; the server builds it. A compiler error costs no "
           "retry.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop,
       .builds = true},
      [services](const SubmitKernelArgs& args, CallContext& call) -> Result<SubmitKernelAnswer> {
        auto permit = services.runs.permit(args.run, Event::submitted, args.version);
        if (!permit) return permit.error();
        auto source = read_source({.path = args.path, .text = args.source}, "source",
                                  Runs::source_name(*permit, ""), services.roots);
        if (!source) return source.error();
        source->file_name = Runs::source_name(*permit, source->file_name);
        if (auto changed = Runs::differs_from_parent(*permit, source->text); !changed)
          return changed.error();
        auto candidate = services.lab.build(permit->contract, *std::move(source), call);
        if (!candidate) return candidate.error();
        auto view = services.runs.record_build(*permit, *candidate, args.note);
        if (!view) return view.error();
        return SubmitKernelAnswer{*std::move(view), candidate->build.source_digest,
                                  candidate->build};
      });
}

}  // namespace ratchet
