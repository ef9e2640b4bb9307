// What ranks a page besides the words that it contains.

#include <string>

#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using Ids = std::vector<std::string>;

void put(const test::TestKnowledge& kb, const std::string& path, std::string_view text) {
  test::write_text(kb.folder() / "c" / path, text);
}

std::string change(std::string_view id, std::string_view title, std::string_view repo) {
  return std::string("---\nid: ")
      .append(id)
      .append("\ntitle: \"")
      .append(title)
      .append("\"\nrepo: ")
      .append(repo)
      .append("\n---\n\nokapi\n");
}

TEST_CASE("a page with the query's words side by side ranks above one with the words apart") {
  test::TestKnowledge kb;
  put(kb, "wiki/a.md", test::page_text("a", "Okapi", "bank one two three four conflict"));
  put(kb, "wiki/b.md", test::page_text("b", "Okapi", "one two three four bank conflict"));
  put(kb, "wiki/c.md", test::page_text("c", "Okapi", "one two three four conflict bank"));
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "bank conflict"}) == Ids{"b", "a", "c"});
  CHECK(kb.ids({.text = "conflict bank"}) == Ids{"c", "a", "b"});
}

TEST_CASE("words side by side count by field, and a word after itself counts once") {
  test::TestKnowledge kb;
  put(kb, "wiki/a.md", test::page_text("a", "Bank okapi", "conflict one"));
  put(kb, "wiki/b.md", test::page_text("b", "Okapi bank", "conflict one"));
  put(kb, "wiki/c.md", test::page_text("c", "Other", "bank bank bank"));
  kb.add(kb.folder() / "c");
  // The title's last word and the body's first do not stand side by side.
  CHECK(kb.ids({.text = "bank conflict", .limit = 2}) == Ids{"a", "b"});
  CHECK(kb.ids({.text = "bank banks"}).size() == 3);
}

TEST_CASE("a query that names a change raises its repository's pages, and why says so") {
  test::TestKnowledge kb;
  put(kb, "sources/prs/x/pr-a.md", change("pr-a", "Swizzle of shared tiles", "one/tiles"));
  put(kb, "sources/prs/x/pr-b.md", change("pr-b", "Swizzle again", "other/tiling"));
  put(kb, "sources/prs/x/pr-c.md", change("pr-c", "Swizzle again", "one/tiles"));
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "swizzle again okapi"}) == Ids{"pr-b", "pr-c", "pr-a"});  // index order
  const auto answer = kb.query({.text = "Swizzle of shared tiles"});
  REQUIRE(answer.results.size() == 3);
  CHECK(answer.results[0].id == "pr-a");
  CHECK(answer.results[0].why.find("same repository") == std::string::npos);
  CHECK(answer.results[1].id == "pr-c");
  CHECK(answer.results[1].why.find("same repository as the named page") != std::string::npos);
  CHECK(answer.results[2].why.find("same repository") == std::string::npos);
}

TEST_CASE("a page of the wiki ranks above a change that matches as well") {
  test::TestKnowledge kb;
  put(kb, "sources/prs/x/pr-a.md", test::page_text("pr-a", "Swizzle", "swizzle swizzle"));
  put(kb, "wiki/page.md", test::page_text("page", "Swizzle", "swizzle"));
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "swizzle layout"}) == Ids{"page", "pr-a"});
}

}  // namespace
}  // namespace ratchet
