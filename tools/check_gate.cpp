#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct GateArgs {
  RunId run;
  bool final_gate = false;
  bool abandon = false;

  static constexpr void fields(auto&& visit) {
    visit(required<&GateArgs::run>(),
          optional("final", &GateArgs::final_gate, "Verify the whole run after its last version."),
          optional<&GateArgs::abandon>("Give up the open version; only after its last retry."));
  }
};

}  // namespace

Tool check_gate(const Services& services) {
  return make_tool<GateArgs, GateAnswer>(
      {.name = "check_gate",
       .summary =
           "Ask the gate to close the open version and open the next. Lists all unmet rules at "
           "once.",
       .effect = Effect::writes,
       .toolset = Toolset::loop},
      [&runs = services.runs](const GateArgs& args, CallContext&) {
        return runs.check_gate(args.run, args.final_gate, args.abandon);
      });
}

}  // namespace ratchet
