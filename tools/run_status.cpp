#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct RunArgs {
  RunId run;

  static constexpr void fields(auto&& visit) {
    visit(required<&RunArgs::run>("Run id that create_run returned."));
  }
};

}  // namespace

Tool run_status(const Services& services) {
  return make_tool<RunArgs, RunStatus>(
      {.name = "run_status",
       .summary =
           "Show the state of a run: versions, the best one, what is allowed next and with which "
           "tool. Call it first after losing context.",
       .effect = Effect::reads,
       .toolset = Toolset::loop,
       .idempotent = true,
       .always_load = true},
      [&runs = services.runs](const RunArgs& args, CallContext&) { return runs.status(args.run); });
}

}  // namespace ratchet
