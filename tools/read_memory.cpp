#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ReadMemoryArgs {
  RunId run;
  std::optional<VersionId> version;
  std::optional<std::string> field;

  static constexpr void fields(auto&& visit) {
    using A = ReadMemoryArgs;
    visit(required<&A::run>(), optional<&A::version>("Default: all."),
          optional<&A::field>("For example performance.latency_us.", {.max_length = 100}));
  }
};

}  // namespace

Tool read_memory(const Services& services) {
  return make_tool<ReadMemoryArgs, MemoryAnswer>(
      {.name = "read_memory",
       .summary = "Read what the run recorded of its versions: time, change, evidence, pitfalls, "
                  "gate. Masked ones are withheld.",
       .effect = Effect::reads,
       .toolset = Toolset::memory,
       .idempotent = true},
      [&runs = services.runs](const ReadMemoryArgs& args, CallContext&) {
        return runs.read_memory(args.run, args.version, args.field);
      });
}

}  // namespace ratchet
