#include "kbs/text/trigrams.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::FixtureKnowledge;

GrepAnswer grep(FixtureKnowledge& kb, const GrepRequest& request) {
  auto answer = kb.base().grep(request);
  REQUIRE(answer);
  return *answer;
}

TEST_CASE("a match comes with id, path and line in the file") {
  FixtureKnowledge kb;
  const auto answer = grep(kb, {.pattern = R"(setmaxnreg\.(inc|dec))"});
  REQUIRE(answer.hits.size() == 1);
  CHECK(answer.hits[0].id == "technique-register-budget");
  CHECK(answer.hits[0].path == "wiki/techniques/register-budget.md");
  CHECK(answer.hits[0].line ==
        12);  // ten lines of header and fences, a blank line, then the sentence
}

TEST_CASE("matching is case-sensitive unless requested otherwise") {
  FixtureKnowledge kb;
  CHECK(grep(kb, {.pattern = "SETMAXNREG"}).total == 0);
  CHECK(grep(kb, {.pattern = "SETMAXNREG", .ignore_case = true}).total == 1);
}

TEST_CASE("anchors match at line boundaries") {
  FixtureKnowledge kb;
  CHECK(grep(kb, {.pattern = "^## Overview$"}).total == 1);
}

TEST_CASE("a match in a record cites the record's line") {
  FixtureKnowledge kb;
  const auto answer = grep(kb, {.pattern = "never terminated"});
  REQUIRE(answer.hits.size() == 1);
  CHECK(answer.hits[0].path == "records.jsonl");
  CHECK(answer.hits[0].line == 2);
}

TEST_CASE("context adds the neighboring lines") {
  FixtureKnowledge kb;
  const auto answer = grep(kb, {.pattern = "^## Risks", .context = 2});
  REQUIRE(answer.hits.size() == 1);
  CHECK(answer.hits[0].text.find("Producer warps") != std::string::npos);
  CHECK(answer.hits[0].text.find("The sum over the block") != std::string::npos);
}

TEST_CASE("an invalid regular expression is searched as text, and the answer says so") {
  FixtureKnowledge kb;
  for (const char* pattern : {"a(b", "[", "*", "(?P<", "\\", "\xff"}) {
    const auto answer = grep(kb, {.pattern = pattern});
    REQUIRE(answer.note);
    CHECK(answer.note->find("searched as text") != std::string::npos);
  }
  CHECK(grep(kb, {.pattern = "[dst], [src"}).total == 1);
}

TEST_CASE("a pattern with a NUL byte is not an error and matches nothing") {
  FixtureKnowledge kb;
  CHECK(grep(kb, {.pattern = std::string("copy\0", 5)}).total == 0);
}

TEST_CASE("empty and huge patterns search nothing, and the answer says so") {
  FixtureKnowledge kb;
  CHECK(grep(kb, {.pattern = ""}).note);
  CHECK(grep(kb, {.pattern = std::string(1 << 20, 'a')}).note);
}

TEST_CASE("a pattern that makes backtracking engines take exponential time is answered") {
  FixtureKnowledge kb;
  CHECK(grep(kb, {.pattern = "(a*)*(b*)*(a+)+$x"}).total == 0);
}

TEST_CASE("cursors visit every match once") {
  FixtureKnowledge kb;
  const auto whole = grep(kb, {.pattern = "^tags:"});
  int seen = 0;
  std::optional<std::string> cursor;
  do {
    const auto part = grep(kb, {.pattern = "^tags:", .limit = 3, .cursor = cursor});
    CHECK(part.total == whole.total);
    seen += static_cast<int>(part.hits.size());
    cursor = part.next_cursor;
  } while (cursor);
  CHECK(seen == whole.total);
}

TEST_CASE("files_only lists each page once") {
  FixtureKnowledge kb;
  CHECK(grep(kb, {.pattern = "copy", .scopes = {{"wiki"}}, .files_only = true}).total == 2);
}

TEST_CASE("the trigram filter has no false negatives") {
  const std::string text = "griddepcontrol.wait and setmaxnreg in one kernel";
  const auto filter = kbs::trigram_filter(text, "extra words");
  for (const auto* there : {"griddepcontrol", "setmaxnreg", "extra", "ab", ""})
    CHECK(kbs::may_contain(filter, there));
  CHECK_FALSE(kbs::may_contain(filter, "tcgen05.fence"));
}

}  // namespace
}  // namespace ratchet
