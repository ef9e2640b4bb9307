#include "kbs/corpus/corpus_listing.h"

#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::page_text;
using test::TestKnowledge;
using test::write_text;

constexpr std::string_view kRecord = R"({"id": "tiles",
  "retrieval": {"signals": {"symptoms": ["idle-tail"]}}, "payload": {"what": "Okapi tiles."}})";

TEST_CASE("JSON records below records/ are found, except their index") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "kernel_wiki/records/tiles.json", kRecord);
  write_text(corpus / "kernel_wiki/records/index.json", "{\"records\": []}");
  write_text(corpus / "other/config.json", "{}");
  const auto report = kb.add(corpus);
  CHECK(report.documents == 1);
  CHECK(report.problems.empty());
  const auto hits = kb.query({.text = "okapi", .scopes = {{"wiki"}}, .symptoms = {{"idle tail"}}});
  REQUIRE(hits.results.size() == 1);
  CHECK(hits.results[0].path == "kernel_wiki/records/tiles.json:1");
}

TEST_CASE("a wiki whose pages have no headers is read as plain Markdown") {
  TestKnowledge kb;
  write_text(kb.folder() / "c/wiki/memory.md", "# Memory access\n\nokapi\n");
  write_text(kb.folder() / "c/wiki/skill.md", "---\nname: a skill\n---\n\n# Giraffe\n");
  CHECK(kb.add(kb.folder() / "c").documents == 2);
  CHECK(kb.ids({.text = "okapi"}) == std::vector<std::string>{"wiki-memory"});
  CHECK(kb.ids({.text = "giraffe"}) == std::vector<std::string>{"wiki-skill"});
}

TEST_CASE("recently modified files have no stamp") {
  TestKnowledge kb;
  write_text(kb.folder() / "c/wiki/a.md", page_text("a", "First", "alpha"));
  std::vector<kbs::Problem> problems;
  const auto young = kbs::list_corpus(kb.folder() / "c", problems);
  REQUIRE(young);
  CHECK(young->pages.at(0).stamp.empty());
  const auto old = kbs::list_corpus(test::source_dir() / "kbs/content", problems);
  REQUIRE(old);
  CHECK_FALSE(old->pages.at(0).stamp.empty());
}

}  // namespace
}  // namespace ratchet
