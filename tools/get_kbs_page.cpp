#include "tools/all.h"

namespace ratchet {
namespace {

struct PageArgs {
  std::string id;
  std::optional<std::string> section;
  bool follow_sources = false;
  bool include_code = true;
  bool body_only = false;
  bool frontmatter_only = false;
  std::optional<std::string> cursor;

  static constexpr auto fields() {
    using A = PageArgs;
    return std::tuple{
        required("id", &A::id, "Page id from query_kbs.", {.max_length = 300}),
        optional("section", &A::section, "Only the section with this heading.",
                 {.max_length = 200}),
        optional("follow_sources", &A::follow_sources, "Also what the page cites."),
        optional("include_code", &A::include_code, "Keep code blocks."),
        optional("body_only", &A::body_only, "Without front matter."),
        optional("frontmatter_only", &A::frontmatter_only, "Without the text."),
        optional("cursor", &A::cursor, "next_cursor of the part before.", {.max_length = 200})};
  }
};

}  // namespace

Tool get_kbs_page(const Services& services) {
  return make_tool<PageArgs, Page>(
      {.name = "get_kbs_page",
       .summary = "Read one knowledge page by id, whole or one section.",
       .effect = Effect::reads,
       .toolset = Toolset::kbs,
       .idempotent = true},
      [&knowledge = services.knowledge](const PageArgs& args, CallContext&) {
        return knowledge.page({.id = args.id,
                               .section = args.section,
                               .follow_sources = args.follow_sources,
                               .include_code = args.include_code,
                               .body_only = args.body_only,
                               .frontmatter_only = args.frontmatter_only,
                               .cursor = args.cursor});
      });
}

}  // namespace ratchet
