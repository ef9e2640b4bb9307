#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::FixtureKnowledge;
using Ids = std::vector<std::string>;

TEST_CASE("a page comes first for its id, an alias or a symptom") {
  FixtureKnowledge kb;
  CHECK(kb.ids({.text = "hw-bulk-copy"}).front() == "hw-bulk-copy");
  CHECK(kb.ids({.text = "BCE"}).front() == "hw-bulk-copy");
  CHECK(kb.ids({.text = "tail effect"}).front() == "pattern-idle-tail");
}

TEST_CASE("an identifier is found whole and by its parts") {
  FixtureKnowledge kb;
  CHECK(kb.ids({.text = "merge_attn_states"}) == Ids{"pr-demo-7"});
  CHECK(kb.ids({.text = "attn"}) == Ids{"pr-demo-7"});
  CHECK(kb.ids({.text = "setmaxnreg.dec"}).front() == "technique-register-budget");
  CHECK(kb.ids({.text = "setmaxnreg"}).front() == "technique-register-budget");
}

TEST_CASE("either spelling finds a page in the other, hyphen or not, and exact names stay exact") {
  test::TestKnowledge kb;
  const auto page = [&](const char* id, const char* body) {
    test::write_text(kb.folder() / "c/wiki" / (std::string(id) + ".md"),
                     test::page_text(id, "Okapi", body));
  };
  page("us", "Vectorized row-wise top-k keeps neighboring behavior.");
  page("gb", "Vectorised rowwise topk keeps neighbouring behaviour.");
  page("name", "cudaMemcpyAsync and wgmma.mma_async");
  kb.add(kb.folder() / "c");
  for (const char* text : {"vectorise", "vectorize", "row-wise", "rowwise", "top-k", "topk",
                           "behaviour", "behavior", "neighbours", "neighbor"}) {
    INFO(text);
    auto ids = kb.ids({.text = text});
    std::ranges::sort(ids);
    CHECK(ids == Ids{"gb", "us"});
  }
  CHECK(kb.ids({.text = "cudaMemcpyAsync"}) == Ids{"name"});
  CHECK(kb.ids({.text = "wgmma.mma_async"}) == Ids{"name"});
}

TEST_CASE("an alias is searched in addition to the user's word") {
  FixtureKnowledge kb;
  const auto answer = kb.query({.text = "TMA"});
  REQUIRE_FALSE(answer.results.empty());
  CHECK(answer.results.front().id == "hw-bulk-copy");
  CHECK(answer.results.front().why.find("bulk copy") != std::string::npos);
}

TEST_CASE("the answer says whether all, most or any of the words matched") {
  FixtureKnowledge kb;
  CHECK(kb.query({.text = "alignment sixteen bytes"}).relaxed == "all");
  CHECK(kb.query({.text = "alignment sixteen bytes zebra"}).relaxed == "most");
  CHECK(kb.query({.text = "bytes zebra giraffe okapi"}).relaxed == "any");
  CHECK(kb.query({.text = "zebra giraffe"}).relaxed == "none");
}

TEST_CASE("an answer that misses the subject of the query is weak") {
  FixtureKnowledge kb;
  CHECK(kb.query({.text = "bytes zebra giraffe okapi"}).weak);
  CHECK(kb.query({.text = "zebra"}).weak);
  CHECK_FALSE(kb.query({.text = "alignment sixteen bytes"}).weak);
}

TEST_CASE("a page about the query raises the sources that it cites, and why says so") {
  FixtureKnowledge kb;
  const auto answer = kb.query({.text = "bulk copy engine", .scopes = {{"sources"}}});
  const auto cited = std::ranges::find(answer.results, "doc-copy-guide", &QueryHit::id);
  REQUIRE(cited != answer.results.end());
  CHECK(cited->why.find("cited by hw-bulk-copy") != std::string::npos);
}

TEST_CASE("without links, cited sources rank by their own words") {
  FixtureKnowledge kb;
  auto base =
      Knowledge::open({.builtin_index = {}, .user_index = kb.index(), .follow_links = false});
  REQUIRE(base);
  const auto answer = (*base)->query({.text = "bulk copy engine", .scopes = {{"sources"}}});
  REQUIRE(answer);
  for (const auto& hit : answer->results) CHECK(hit.why.find("cited by") == std::string::npos);
}

TEST_CASE("the context of a run raises pages that fit it, says so, and hides nothing") {
  test::TestKnowledge kb;
  const auto page = [&](const char* id, const char* more) {
    test::write_text(kb.folder() / "c/wiki" / (std::string(id) + ".md"),
                     std::string("---\nid: ") + id + "\ntitle: Okapi\n" + more + "---\n\nokapi\n");
  };
  page("a", "architectures: [sm100]\n");
  page("b", "architectures: [sm90]\nlanguages: [triton]\n");
  page("pattern-x", "candidate_techniques: [c]\n");
  page("c", "");
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "okapi"}).front() == "a");  // equal scores are in index order
  const KnowledgeQuery fitted{.text = "okapi",
                              .situation = {"sm_90a", "triton", "memory", {"pattern-x"}}};
  const auto answer = kb.query(fitted);
  REQUIRE(answer.results.size() == 4);
  CHECK(answer.results[0].id == "c");  // the diagnosis proposes it
  CHECK(answer.results[0].why.find("fits the diagnosis") != std::string::npos);
  CHECK(answer.results[2].why.find("fits sm90, triton") != std::string::npos);
  CHECK(answer.results[3].id == "a");  // for another chip
  CHECK(answer.note == "ranked for the run: sm90, triton, memory bound, pattern-x");
}

TEST_CASE("a result says on which device its code was measured") {
  test::TestKnowledge kb;
  const auto code = [&](const char* id, const char* header) {
    test::write_text(kb.folder() / "c/code" / (std::string(id) + ".cu"),
                     std::string("// ---\n// id: ") + id + "\n// title: Okapi\n" + header +
                         "// ---\n\n// region one\nint okapi;\n");
  };
  code("a", "// code_evidence: measured\n// measured_on: \"NVIDIA H200\"\n");
  code("b", "// code_evidence: compiled\n");
  code("c", "");
  kb.add(kb.folder() / "c");
  const auto answer = kb.query({.text = "okapi"});
  REQUIRE(answer.results.size() == 3);
  std::map<std::string, std::string> tried;
  for (const auto& hit : answer.results) tried[hit.id] = hit.code.value_or("none");
  CHECK(tried == std::map<std::string, std::string>{
                     {"a", "measured on NVIDIA H200"}, {"b", "compiled"}, {"c", "none"}});
}

TEST_CASE("a finding leads to the region of code that cures it, for its language and chip") {
  test::TestKnowledge kb;
  const auto code = [&](const char* id, const char* header) {
    test::write_text(kb.folder() / "c/code" / (std::string(id) + ".cu"),
                     std::string("// ---\n// id: ") + id + "\n// title: Okapi\n" + header +
                         "// cures: {pattern-x: two words, pattern-xy: other}\n// ---\n\n"
                         "// region two words\nint okapi;\n");
  };
  code("a", "// languages: [cuda-cpp]\n// architectures: [sm90]\n// code_evidence: compiled\n");
  code("b", "// languages: [cuda-cpp]\n// architectures: [sm90]\n// code_evidence: measured\n");
  code("c", "// languages: [cuda-cpp]\n// architectures: [sm100]\n");
  code("d", "// languages: [cpp]\n// architectures: [x86-64]\n");
  kb.add(kb.folder() / "c");
  const auto cures = [&](const char* chip, const char* language, const char* finding) {
    auto found = kb.base().cures({chip, language, "", {finding}});
    REQUIRE(found);
    return *std::move(found);
  };
  const auto found = cures("NVIDIA H200", "cuda-cpp", "pattern-x");
  REQUIRE(found.size() == 2);
  CHECK(found[0].page == "b");  // measured
  CHECK(found[0].code == "measured");
  CHECK(found[0].section == "two words");
  CHECK(found[1].page == "a");
  CHECK(cures("NVIDIA H200", "triton", "pattern-x").empty());
  CHECK(cures("NVIDIA H200", "cuda-cpp", "pattern").empty());
  CHECK(cures("", "cpp", "pattern-x").at(0).page == "d");

  const auto hits =
      kb.query({.text = "okapi", .situation = {"NVIDIA H200", "cuda-cpp", "", {"pattern-x"}}});
  REQUIRE_FALSE(hits.results.empty());
  CHECK(hits.results.front().why.find("fits the diagnosis") != std::string::npos);
}

TEST_CASE("values of a filter are combined with OR, filters with AND") {
  FixtureKnowledge kb;
  CHECK(kb.ids({.text = "path merge", .repos = {{"owner/demo"}}, .tags = {{"fp8"}}}) ==
        Ids{"pr-demo-8"});
  CHECK(kb.ids({.text = "path merge", .repos = {{"demo"}}}).size() == 2);
  CHECK(kb.ids({.text = "copy", .scopes = {{"blogs"}}}) == Ids{"blog-copy-tuning"});
  CHECK(kb.ids({.text = "copies", .has_code = true}) == Ids{"hw-bulk-copy"});
}

TEST_CASE("an architecture filter accepts device names and ignores unverified labels") {
  FixtureKnowledge kb;
  // PR 8 is labeled sm100 by default but its title says Hopper; PR 7's description names the B200.
  CHECK(kb.ids({.text = "fix add path", .scopes = {{"prs"}}, .architectures = {{"B200"}}}) ==
        Ids{"pr-demo-7"});
  CHECK(kb.ids({.text = "fix add path", .scopes = {{"prs"}}, .architectures = {{"H100"}}}) ==
        Ids{"pr-demo-8"});
  const auto answer = kb.query({.text = "fix", .architectures = {{"sm_100a"}}});
  REQUIRE(answer.note);
  CHECK(answer.note->find("1 pages are left out") != std::string::npos);
}

TEST_CASE("filters without words list everything that passes") {
  FixtureKnowledge kb;
  CHECK(kb.ids({.text = "", .kinds = {{"pattern"}}}) == Ids{"pattern-idle-tail"});
}

TEST_CASE("a hit cites the line of its snippet") {
  FixtureKnowledge kb;
  const auto answer = kb.query({.text = "sixteen"});
  REQUIRE(answer.results.size() == 1);
  // doc-copy-guide: seven lines of header and fences, a blank line, then the sentence.
  CHECK(answer.results[0].path == "sources/docs/copy-guide.md:9");
  CHECK(answer.results[0].snippet == "Alignment must be sixteen bytes.");
}

TEST_CASE("a hit in a joined record cites the line of the record") {
  FixtureKnowledge kb;
  const auto answer = kb.query({.text = "overflowed"});
  REQUIRE(answer.results.size() == 1);
  CHECK(answer.results[0].id == "pr-demo-7");
  CHECK(answer.results[0].path == "records.jsonl:1");
}

TEST_CASE("cursors visit every result once and are valid for their query only") {
  FixtureKnowledge kb;
  std::set<std::string> seen;
  std::optional<std::string> cursor;
  int pages = 0;
  do {
    const auto answer = kb.query({.text = "copy kernel fix", .limit = 2, .cursor = cursor});
    for (const auto& hit : answer.results) CHECK(seen.insert(hit.id).second);
    cursor = answer.next_cursor;
    ++pages;
    CHECK(static_cast<std::size_t>(answer.total) >= seen.size());
  } while (cursor && pages < 20);
  CHECK(pages > 1);

  const auto first = kb.query({.text = "copy kernel fix", .limit = 2});
  const auto other = kb.base().query({.text = "something else", .cursor = first.next_cursor});
  REQUIRE_FALSE(other);
  CHECK(other.error().code == ErrorCode::invalid_argument);
  CHECK_FALSE(kb.base().query({.text = "copy", .cursor = "999999999999999999999-x"}));
}

TEST_CASE("every answer has a unique id") {
  FixtureKnowledge kb;
  const auto a = kb.query({.text = "copy"}).query_id;
  const auto b = kb.query({.text = "copy"}).query_id;
  CHECK(a != b);
  CHECK(a.size() == 14);  // "q-" and twelve digits
  CHECK(a.starts_with("q-"));
}

TEST_CASE("no query text is an error") {
  FixtureKnowledge kb;
  const std::string quotes = "\"";
  for (const std::string& text :
       {std::string(), std::string("   "), std::string("the of and"), quotes, quotes + "copy",
        std::string("copy AND"), std::string("NEAR(copy, 2)"), std::string("title:copy"),
        std::string("copy*"), std::string("^copy"), std::string("{title body}: copy"),
        std::string("copy NOT"), std::string("(((("), std::string("'; DROP TABLE doc;--"),
        std::string("copy\0engine", 11), std::string("\xff\xfe copy"),
        std::string("\xf0\x9f\x94\xa5 copy"), std::string(1 << 20, 'x'),
        std::string(1 << 20, '"')}) {
    CAPTURE(text.substr(0, 40));
    CHECK(kb.base().query({.text = text}));
  }
  std::string words;
  for (int i = 0; i < 200'000; ++i) words += "word" + std::to_string(i) + " ";
  const auto answer = kb.query({.text = words});
  REQUIRE(answer.note);
  CHECK(answer.note->find("first words") != std::string::npos);
}

TEST_CASE("operators are searched as text, and the answer says so") {
  FixtureKnowledge kb;
  const auto answer = kb.query({.text = "\"bulk copy\" NOT engine"});
  CHECK(answer.results.front().id == "hw-bulk-copy");
  REQUIRE(answer.note);
  CHECK(answer.note->find("as text") != std::string::npos);
}

TEST_CASE("an unknown scope is an error that lists the known ones") {
  FixtureKnowledge kb;
  const auto answer = kb.base().query({.text = "copy", .scopes = {{"nowhere"}}});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().message.find("nowhere") != std::string::npos);
  CHECK(answer.error().hint.find("snapshots") != std::string::npos);
}

TEST_CASE("limits are clamped to 1 to 50") {
  FixtureKnowledge kb;
  CHECK(kb.query({.text = "copy", .limit = -3}).results.size() == 1);
  CHECK(kb.query({.text = "copy", .limit = 100'000}).results.size() <= 50);
}

TEST_CASE("an answer stays below its byte limit and has a cursor for the rest") {
  test::TestKnowledge kb;
  for (int i = 0; i < 60; ++i) {
    const auto id = "page-" + std::to_string(i);
    test::write_text(kb.folder() / ("c/wiki/" + id + ".md"),
                     test::page_text(id, "Copy " + id, std::string(400, 'z') + " copy"));
  }
  kb.add(kb.folder() / "c", "many");
  const auto answer = kb.query({.text = "copy", .limit = 50});
  CHECK(encode(answer).dump().size() < 14'000);
  CHECK(answer.next_cursor);
  CHECK(answer.total == 60);
}

TEST_CASE("a scope that matches well gets a place on a first page that another scope fills") {
  test::TestKnowledge kb;
  // Four short pull requests outrank one longer wiki page; only three results are requested.
  for (const auto& id : std::vector<std::string>{"pr-a", "pr-b", "pr-c", "pr-d"})
    test::write_text(kb.folder() / ("c/sources/prs/x/" + id + ".md"),
                     test::page_text(id, "Swizzle fix", "swizzle"));
  test::write_text(
      kb.folder() / "c/wiki/page.md",
      test::page_text("page", "Swizzle and other layouts", "swizzle " + std::string(200, '.')));
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "swizzle", .limit = 3}) == Ids{"pr-a", "pr-b", "page"});
  CHECK(kb.ids({.text = "swizzle", .scopes = {{"prs"}}, .limit = 3}) ==
        Ids{"pr-a", "pr-b", "pr-c"});
}

TEST_CASE("among sources a document ranks above a change with a slightly better match") {
  test::TestKnowledge kb;
  test::write_text(kb.folder() / "c/sources/prs/x/pr-a.md",
                   test::page_text("pr-a", "Swizzle", "swizzle swizzle"));
  test::write_text(kb.folder() / "c/sources/docs/guide.md",
                   test::page_text("guide", "Swizzle", "swizzle"));
  kb.add(kb.folder() / "c");
  CHECK(kb.ids({.text = "swizzle layout", .scopes = {{"prs", "docs"}}}) == Ids{"pr-a", "guide"});
  const auto answer = kb.query({.text = "swizzle layout", .scopes = {{"sources"}}});
  REQUIRE(answer.results.size() == 2);
  CHECK(answer.results.front().id == "guide");
  CHECK(answer.results.front().why.find("documents rank above changes") != std::string::npos);
}

TEST_CASE("threads share one knowledge base") {
  FixtureKnowledge kb;
  auto& base = kb.base();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const auto answer = base.query({.text = "merge_attn_states"});
          if (answer && answer->results.size() == 1 && answer->results[0].id == "pr-demo-7") ++good;
        }
      });
  }
  CHECK(good == 200);
}

}  // namespace
}  // namespace ratchet
