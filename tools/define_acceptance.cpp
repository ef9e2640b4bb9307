#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct AcceptanceArgs {
  RunId run;
  std::vector<AcceptancePair> pairs;

  static constexpr void fields(auto&& visit) {
    visit(required<&AcceptanceArgs::run>(),
          required<&AcceptanceArgs::pairs>("What must hold, each with its criterion.",
                                           {.max_length = 50}));
  }
};

}  // namespace

Tool define_acceptance(const Services& services) {
  return make_tool<AcceptanceArgs, ReviewAnswer>(
      {.name = "define_acceptance",
       .summary = "Define when the run is accepted: predicates that the server evaluates over its "
                  "ledger, or reviews.",
       .effect = Effect::writes,
       .toolset = Toolset::review},
      [&runs = services.runs](const AcceptanceArgs& args, CallContext&) {
        return runs.define_acceptance(args.run, args.pairs);
      });
}

}  // namespace ratchet
