#include "tools/all.h"

namespace ratchet {
namespace {

struct GrepArgs : GrepRequest {
  OneOrMany<std::string> scope;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{optional("scope", &GrepArgs::scope, "As in query_kbs; default all.")},
        GrepRequest::fields());
  }
};

}  // namespace

Tool grep_kbs(const Services& services) {
  return make_tool<GrepArgs, GrepAnswer>(
      {.name = "grep_kbs",
       .summary = "Find a regular expression in the knowledge base, line by line; for exact names "
                  "and code where query_kbs ranks by words.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .idempotent = true},
      [&knowledge = services.knowledge](const GrepArgs& args, CallContext&) {
        GrepRequest request = args;
        request.scopes = args.scope.values;
        return knowledge.grep(request);
      });
}

}  // namespace ratchet
