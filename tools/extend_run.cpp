#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ExtendRunArgs {
  RunId run;
  int iterations = 1;

  static constexpr void fields(auto&& visit) {
    visit(required<&ExtendRunArgs::run>(),
          optional<&ExtendRunArgs::iterations>("Versions to add.", {.min = 1, .max = 100}));
  }
};

}  // namespace

Tool extend_run(const Services& services) {
  return make_tool<ExtendRunArgs, RunView>(
      {.name = "extend_run",
       .summary = "Add versions to a run; the contract does not change.",
       .effect = Effect::writes,
       .toolset = Toolset::loop},
      [&runs = services.runs](const ExtendRunArgs& args, CallContext&) {
        return runs.extend(args.run, args.iterations);
      });
}

}  // namespace ratchet
