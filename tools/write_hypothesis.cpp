#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct HypothesisArgs : Hypothesis {
  RunId run;

  static constexpr void fields(auto&& visit) {
    visit(required<&HypothesisArgs::run>());
    Hypothesis::fields(visit);
  }
};

}  // namespace

Tool write_hypothesis(const Services& services) {
  return make_tool<HypothesisArgs, HypothesisAnswer>(
      {.name = "write_hypothesis",
       .summary = "State the one change that the next version tries, what it should improve and "
                  "when it succeeds.",
       .effect = Effect::writes,
       .toolset = Toolset::loop},
      [&runs = services.runs](const HypothesisArgs& args, CallContext&) {
        return runs.write_hypothesis(args.run, args);
      });
}

}  // namespace ratchet
