#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::FixtureKnowledge;

TEST_CASE("a page comes with its header, its text and the titles of its sources") {
  FixtureKnowledge kb;
  const auto page = kb.base().page({.id = "hw-bulk-copy"});
  REQUIRE(page);
  CHECK(page->front_matter["aliases"][1] == "cp.async.bulk");
  CHECK(page->text.find("mbarrier counts the bytes") != std::string::npos);
  REQUIRE(page->sources.size() == 2);
  CHECK(page->sources[0].title == "Guide to asynchronous movement");
}

TEST_CASE("a section ends before the next heading of the same level") {
  FixtureKnowledge kb;
  const auto page = kb.base().page({.id = "hw-bulk-copy", .section = "overview"});
  REQUIRE(page);
  CHECK(page->text.find("One thread starts") != std::string::npos);
  CHECK(page->text.find("Code") == std::string::npos);
}

TEST_CASE("a missing section is an error that lists the available headings") {
  FixtureKnowledge kb;
  const auto page = kb.base().page({.id = "hw-bulk-copy", .section = "zebra"});
  REQUIRE_FALSE(page);
  CHECK(page.error().code == ErrorCode::not_found);
  CHECK(page.error().hint.find("Overview") != std::string::npos);
}

TEST_CASE("code can be left out, and the header or the body can be requested alone") {
  FixtureKnowledge kb;
  const auto plain = kb.base().page({.id = "hw-bulk-copy", .include_code = false});
  REQUIRE(plain);
  CHECK(plain->text.find("complete_tx") == std::string::npos);
  const auto header = kb.base().page({.id = "hw-bulk-copy", .frontmatter_only = true});
  REQUIRE(header);
  CHECK(header->text.empty());
  const auto body = kb.base().page({.id = "hw-bulk-copy", .body_only = true});
  REQUIRE(body);
  CHECK(body->front_matter.empty());
}

TEST_CASE("followed sources are appended to the page under their ids") {
  FixtureKnowledge kb;
  const auto page = kb.base().page({.id = "hw-bulk-copy", .follow_sources = true});
  REQUIRE(page);
  CHECK(page->text.find("# Source doc-copy-guide") != std::string::npos);
  CHECK(page->text.find("Alignment must be sixteen bytes") != std::string::npos);
}

TEST_CASE("the description of a pull request is appended to its page") {
  FixtureKnowledge kb;
  const auto page = kb.base().page({.id = "pr-demo-7"});
  REQUIRE(page);
  CHECK(page->text.find("## Description\n\nThe loop index overflowed") != std::string::npos);
}

TEST_CASE("a file of code is a page: whole, by region, found by its words, with its lines") {
  test::TestKnowledge kb;
  test::write_text(kb.folder() / "c/code/add.cu",
                   "// ---\n// id: code-add\n// title: Addition\n// code_evidence: compiled\n"
                   "// ---\n\n// region index\nint okapi();\n// region kernel\nvoid zebra();\n");
  test::write_text(kb.folder() / "c/code/other.cpp", "int main() {}\n");  // no header: not a page
  test::write_text(kb.folder() / "c/docs/a.md", test::page_text("a", "A", "alpha"));
  const auto report = kb.add(kb.folder() / "c");
  CHECK(report.problems.empty());

  const auto found = kb.query({.text = "zebra"});
  REQUIRE(found.results.size() == 1);
  CHECK(found.results.front().id == "code-add");
  CHECK(found.results.front().code == "compiled");
  CHECK(found.results.front().path == "code/add.cu:10");
  CHECK_FALSE(kb.query({.text = "alpha"}).results.front().code);

  const auto whole = kb.base().page({.id = "code-add"});
  REQUIRE(whole);
  CHECK(whole->text ==
        "```cuda\n// region index\nint okapi();\n// region kernel\nvoid zebra();\n```\n");
  const auto region = kb.base().page({.id = "code-add", .section = "kernel"});
  REQUIRE(region);
  CHECK(region->text == "```cuda\n// region kernel\nvoid zebra();\n```\n");
  const auto none = kb.base().page({.id = "code-add", .section = "epilogue"});
  REQUIRE_FALSE(none);
  CHECK(none.error().hint.find("index | kernel") != std::string::npos);
}

TEST_CASE("paths are not ids, and the error names the most similar ids") {
  FixtureKnowledge kb;
  for (const std::string& id :
       {std::string("../../../etc/passwd"), std::string("/etc/passwd"),
        std::string("wiki/hardware/bulk-copy.md"), std::string(""), std::string("\xff\xfe"),
        std::string("hw-bulk\0copy", 12), std::string(1 << 20, 'a')}) {
    const auto page = kb.base().page({.id = id});
    REQUIRE_FALSE(page);
    CHECK(page.error().code == ErrorCode::not_found);
  }
  const auto near = kb.base().page({.id = "hw-bulk-copi"});
  REQUIRE_FALSE(near);
  CHECK(near.error().hint.find("hw-bulk-copy") != std::string::npos);
}

TEST_CASE("a long page is split at line ends, and its parts add up to the whole") {
  test::TestKnowledge kb;
  std::string body;
  for (int i = 0; i < 2'000; ++i) body += "line " + std::to_string(i) + "\n";
  test::write_text(kb.folder() / "c/wiki/long.md", test::page_text("long", "Long", body));
  kb.add(kb.folder() / "c");
  std::string all;
  std::optional<std::string> cursor;
  int parts = 0;
  do {
    const auto page = kb.base().page({.id = "long", .cursor = cursor});
    REQUIRE(page);
    CHECK(page->text.size() <= 12'000);
    all += page->text;
    cursor = page->next_cursor;
    ++parts;
  } while (cursor && parts < 100);
  CHECK(all.find(body) != std::string::npos);
  CHECK(parts > 1);
  CHECK_FALSE(kb.base().page({.id = "long", .cursor = "12-deadbeef"}));
}

TEST_CASE("page ids are completed by prefix") {
  FixtureKnowledge kb;
  const auto ids = kb.base().page_ids("pr-demo-", 2);
  REQUIRE(ids);
  CHECK(*ids == std::vector<std::string>{"pr-demo-7", "pr-demo-8"});
}

TEST_CASE("a header too large for an answer is named, and the page is read without it") {
  test::TestKnowledge kb;
  std::string tags;
  for (int i = 0; i < 8000; ++i) tags += "  - tag-" + std::to_string(i) + "\n";
  test::write_text(kb.folder() / "c/wiki/large.md",
                   "---\nid: large\ntitle: Large\ntags:\n" + tags + "---\n\nokapi\n");
  kb.add(kb.folder() / "c");

  const auto refused = kb.base().page({.id = "large"});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_large);
  CHECK(refused.error().message.find("wiki/large.md") != std::string::npos);
  const auto body = kb.base().page({.id = "large", .body_only = true});
  REQUIRE(body);
  CHECK(body->text.find("okapi") != std::string::npos);
}

}  // namespace
}  // namespace ratchet
