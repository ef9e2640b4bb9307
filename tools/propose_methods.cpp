#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct ProposeArgs {
  RunId run;
  std::vector<ProposedMethod> methods;

  static constexpr void fields(auto&& visit) {
    using A = ProposeArgs;
    visit(required<&A::run>(),
          required<&A::methods>("As many per axis as the budget of list_methods says.",
                                {.max_length = 6}));
  }
};

}  // namespace

Tool propose_methods(const Services& services) {
  return make_tool<ProposeArgs, ProposalAnswer>(
      {.name = "propose_methods",
       .summary =
           "Choose the open version's methods; the server checks them against profile, budget, "
           "architecture and history before anything is built.",
       .effect = Effect::writes,
       .toolset = Toolset::search},
      [&runs = services.runs](const ProposeArgs& args, CallContext&) {
        return runs.propose_methods(args.run, args.methods);
      });
}

}  // namespace ratchet
