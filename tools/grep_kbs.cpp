#include "kbs/knowledge.h"
#include "tools/all.h"

namespace ratchet {

Tool grep_kbs(const Services& services) {
  return make_tool<GrepRequest, GrepAnswer>(
      {.name = "grep_kbs",
       .summary =
           "Find a regular expression in the knowledge base: exact names and code; query_kbs "
           "ranks by words.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .idempotent = true},
      [&knowledge = services.knowledge](const GrepRequest& request, CallContext&) {
        return knowledge.grep(request);
      });
}

}  // namespace ratchet
