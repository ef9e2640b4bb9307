#include <algorithm>

#include "kbs/knowledge.h"
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

struct Proposal : ProposalAnswer {
  std::vector<Cure> code;

  static constexpr void fields(auto&& visit) {
    ProposalAnswer::fields(visit);
    visit(required<&Proposal::code>("Code that shows methods, for this chip."));
  }
};

/// The wiki's page of a method: "method-tensor-core" of "compute.tensor_core".
std::string page_of(std::string_view method) {
  std::string name(method.substr(method.find('.') + 1));
  std::ranges::replace(name, '_', '-');
  return "method-" + name;
}

}  // namespace

Tool propose_methods(const Services& services) {
  return make_tool<ProposeArgs, Proposal>(
      {.name = "propose_methods",
       .summary = "Choose the open version's methods; checked against profile, budget, "
                  "architecture and history before a build.",
       .effect = Effect::writes,
       .toolset = Toolset::search},
      [services](const ProposeArgs& args, CallContext&) -> Result<Proposal> {
        auto answer = services.runs.propose_methods(args.run, args.methods);
        if (!answer) return answer.error();
        auto situation = services.runs.query_situation(args.run);
        if (!situation) return situation.error();
        situation->findings.clear();
        for (const auto& method : answer->methods)
          situation->findings.push_back(page_of(method.id));
        auto code = services.knowledge.cures(*situation);
        if (!code) return code.error();
        return Proposal{*std::move(answer), *std::move(code)};
      });
}

}  // namespace ratchet
