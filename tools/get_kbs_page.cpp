#include "kbs/knowledge.h"
#include "tools/all.h"

namespace ratchet {

Tool get_kbs_page(const Services& services) {
  return make_tool<PageRequest, Page>(
      {.name = "get_kbs_page",
       .summary = "Read a knowledge page by id, all of it or one section.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .idempotent = true},
      [&knowledge = services.knowledge](const PageRequest& request, CallContext&) {
        return knowledge.page(request);
      });
}

}  // namespace ratchet
