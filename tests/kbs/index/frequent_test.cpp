// Queries with words that occur in many pages.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kbs/index/fts.h"
#include "kbs/index/index_statistics.h"
#include "kbs/index/posting_list.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using kbs::FieldCounts;
using kbs::PostingListReader;
using kbs::PostingListWriter;
using test::TestKnowledge;

constexpr int kPages = 3 * kbs::kFrequent;
constexpr int kTitled = 77;

/// Pages that all mention warps, with varying frequency, and every other one barriers; one has
/// warps in its title. Each has a unique word.
std::filesystem::path common_words(const TestKnowledge& kb) {
  const auto folder = kb.folder() / "pages";
  for (int i = 0; i < kPages; ++i) {
    std::string body = fmt::format("## Notes\n\nsolitaire{} ", i);
    for (int n = 0; n <= i % 5; ++n) body += "warps wait here. ";
    if (i % 2 == 0) body += "A barrier holds them.";
    test::write_text(folder / fmt::format("page-{:03}.md", i),
                     test::page_text(fmt::format("page-{:03}", i),
                                     i == kTitled ? "All about warps" : "A page", body));
  }
  return folder;
}

TEST_CASE("a frequent word is found in all its pages, and first in the one with this title") {
  TestKnowledge kb;
  kb.add(common_words(kb));
  const auto answer = kb.query({.text = "warps"});
  CHECK(answer.total == kPages);
  CHECK(answer.results.front().id == fmt::format("page-{:03}", kTitled));
  CHECK(kb.query({.text = "warps barrier"}).results.front().why.find("missing") ==
        std::string::npos);
}

TEST_CASE("a rare word outweighs common ones") {
  TestKnowledge kb;
  kb.add(common_words(kb));
  const auto answer = kb.query({.text = "barrier warps solitaire91"});
  CHECK(answer.results.front().id == "page-091");
  CHECK(answer.results.front().why.find("missing: barrier") != std::string::npos);
}

TEST_CASE("words too common to select pages still count in the selected ones") {
  TestKnowledge kb;
  const auto folder = kb.folder() / "many";
  for (int i = 0; i < 1300; ++i)  // two words in all of them find more than is looked at
    test::write_text(folder / fmt::format("page-{:04}.md", i),
                     test::page_text(fmt::format("page-{:04}", i), "A page",
                                     fmt::format("solitaire{} warps wait at barriers.", i)));
  kb.add(folder);
  const auto answer = kb.query({.text = "solitaire91 warps barriers"});
  CHECK(answer.results.front().id == "page-0091");
  CHECK(answer.results.front().why == "body: solitaire91, warps, barriers");
  CHECK(kb.query({.text = "warps barriers"}).total == 1300);
}

TEST_CASE("lists of frequent words follow the pages") {
  TestKnowledge before;
  const auto folder = common_words(before);
  before.add(folder);
  std::filesystem::remove(folder / "page-010.md");
  test::write_text(folder / "page-011.md", test::page_text("page-011", "A page", "Nothing here."));
  before.add(folder);
  const auto answer = before.query({.text = "warps", .limit = 50});
  CHECK(answer.total == kPages - 2);
  CHECK(before.query({.text = "solitaire10"}).results.empty());
}

TEST_CASE("the list of a word says what FTS5 says of it") {
  TestKnowledge kb;
  kb.add(common_words(kb));
  auto database = kbs::open_index(kb.index(), kbs::OpenMode::immutable);
  REQUIRE(database);
  kbs::Postings found;
  REQUIRE(kbs::register_collector(database->handle(), found));
  auto lists = database->prepare("SELECT term, count, postings FROM frequent WHERE area=0");
  auto ask = database->prepare("SELECT collect(fts) FROM fts WHERE fts MATCH ?");
  REQUIRE(lists);
  REQUIRE(ask);
  int terms = 0;
  while (lists->step().value_or(false)) {
    ++terms;
    found.clear();
    found.phrase_of = {0};
    REQUIRE(ask->bind(1, std::string_view(fmt::format("\"{}\"", lists->text(0)))).run());
    std::map<std::int64_t, FieldCounts> wanted, listed;
    for (const auto& posting : found.postings) wanted[found.rows[posting.row]] = posting.counts;
    for (PostingListReader list(lists->blob(2)); list.next();) listed[list.row()] = list.counts();
    CAPTURE(lists->text(0));
    CHECK(listed == wanted);
    CHECK(static_cast<std::int64_t>(listed.size()) == lists->integer(1));
  }
  CHECK(terms >= 3);
  // Statements before their connection, and that before what its collector writes to.
  *ask = {};
  *lists = {};
  *database = {};
}

TEST_CASE("a list of postings keeps rows, fields and counts of any size") {
  const std::vector<std::pair<std::int64_t, FieldCounts>> all{{1, {1, 0, 0, 0, 0, 0}},
                                                              {2, {0, 0, 0, 0, 0, 127}},
                                                              {130, {0, 128, 0, 0, 0, 65'535}},
                                                              {4'000'000'000, {1, 2, 3, 4, 5, 6}}};
  PostingListWriter writer;
  for (const auto& [row, counts] : all) writer.add(row, counts);
  PostingListReader reader(writer.bytes());
  for (const auto& [row, counts] : all) {
    REQUIRE(reader.next());
    CHECK(reader.row() == row);
    CHECK(reader.counts() == counts);
  }
  CHECK_FALSE(reader.next());
}

TEST_CASE("bytes that are no list come to an end") {
  PostingListWriter writer;
  writer.add(70'000, {300, 0, 0, 0, 0, 300});
  for (std::size_t size = 0; size < writer.bytes().size(); ++size) {
    const std::string cut(writer.bytes(), 0, size);
    int rows = 0;
    for (PostingListReader reader(cut); reader.next();) ++rows;
    CHECK(rows <= static_cast<int>(size));
  }
  const std::string noise(64, '\xFF');
  int rows = 0;
  for (PostingListReader reader(noise); reader.next();) ++rows;
  CHECK(rows <= 64);
}

}  // namespace
}  // namespace ratchet
