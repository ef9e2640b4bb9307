#include "kbs/documents/json_record.h"

#include <algorithm>

#include "kbs/corpus/corpus_listing.h"
#include "kbs/index/index_writer.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::page_text;
using test::TestKnowledge;
using test::write_text;

constexpr std::string_view kCard = R"({
  "schema": "any", "id": "vendor.chip.lang.card.tiles", "type": "technique-card",
  "retrieval": {"scope": {"arch": "hopper", "dsl": "cuda", "operators": ["gemm"]},
                "technique_tags": ["tiling"], "triggers": ["when tiles are small"],
                "signals": {"symptoms": ["idle-tail"], "bottleneck": "latency"}},
  "payload": {"technique": "Bigger tiles", "what": "Okapi tiles.", "caveats": ["More registers."],
              "implementation": {"snippet": "for (int i;;) {}\nstep();", "format": "source"}},
  "evidence": {"summary": {"confidence": "measured"}, "raw": {"source_repo": "secret-zebra"}}})";

TEST_CASE("a JSON record becomes a page of its knowledge, labelled by what it is retrieved with") {
  const auto card = kbs::read_json_record(kCard, "records/card.json");
  REQUIRE(card);
  CHECK(card->id == "vendor.chip.lang.card.tiles");
  CHECK(card->title == "Bigger tiles");
  CHECK(card->kind == "technique-card");
  CHECK(card->confidence == "measured");
  REQUIRE(card->architectures.size() == 1);
  CHECK(card->architectures[0].name == "sm90");
  CHECK(card->languages == std::vector<std::string>{"cuda"});
  CHECK(card->description.find("## Caveats\n\n- More registers.") != std::string::npos);
  CHECK(card->description.find("secret-zebra") == std::string::npos);
  CHECK(card->has_code);
}

TEST_CASE("JSON records below records/ are found, their index is not one") {
  TestKnowledge kb;
  const auto corpus = kb.folder() / "c";
  write_text(corpus / "kernel_wiki/records/tiles.json", kCard);
  write_text(corpus / "kernel_wiki/records/index.json", "{\"records\": []}");
  write_text(corpus / "other/config.json", "{}");
  const auto report = kb.add(corpus);
  CHECK(report.documents == 1);
  CHECK(report.problems.empty());
  const auto hits = kb.query({.text = "okapi", .scopes = {{"wiki"}}, .symptoms = {{"idle tail"}}});
  REQUIRE(hits.results.size() == 1);
  CHECK(hits.results[0].path == "kernel_wiki/records/tiles.json:1");
}

TEST_CASE("a wiki whose pages have no headers is taken as plain Markdown") {
  TestKnowledge kb;
  write_text(kb.folder() / "c/wiki/memory.md", "# Memory access\n\nokapi\n");
  write_text(kb.folder() / "c/wiki/skill.md", "---\nname: a skill\n---\n\n# Giraffe\n");
  CHECK(kb.add(kb.folder() / "c").documents == 2);
  CHECK(kb.ids({.text = "okapi"}) == std::vector<std::string>{"wiki-memory"});
  CHECK(kb.ids({.text = "giraffe"}) == std::vector<std::string>{"wiki-skill"});
}

TEST_CASE("adding again without a change leaves the index file as it is") {
  TestKnowledge kb;
  write_text(kb.folder() / "c/wiki/a.md", page_text("a", "First", "alpha"));
  kb.add(kb.folder() / "c");
  const auto before = std::filesystem::last_write_time(kb.index());
  CHECK(kb.add(kb.folder() / "c").unchanged == 1);
  CHECK(std::filesystem::last_write_time(kb.index()) == before);
}

TEST_CASE("a job is kept with its very stamp, with all that came of it") {
  TestKnowledge kb;
  kbs::Document page;
  page.id = "a";
  page.title = "Okapi";
  {
    auto writer = kbs::IndexWriter::open(kb.index());
    REQUIRE(writer);
    REQUIRE(writer->begin_corpus("c", "/"));
    CHECK_FALSE(writer->keep({"a.md", "1"}));
    REQUIRE(writer->put(page));
    REQUIRE(writer->remember({"a.md", "1"}, "a", ""));
    REQUIRE(writer->end_corpus());
    REQUIRE(writer->finish());
  }
  auto writer = kbs::IndexWriter::open(kb.index());
  REQUIRE(writer);
  REQUIRE(writer->begin_corpus("c", "/"));
  CHECK(writer->made_of("a.md").document == "a");
  CHECK_FALSE(writer->keep({"a.md", "2"}));
  CHECK_FALSE(writer->keep({"a.md", ""}));
  CHECK(writer->keep({"a.md", "1"}));
  CHECK(writer->end_corpus()->removed == 0);
}

TEST_CASE("only files that were left alone for a while have a stamp") {
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
