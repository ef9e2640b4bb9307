// Queries with words that occur in many pages.

#include <fmt/format.h>

#include "kbs/index/index_statistics.h"
#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

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

TEST_CASE("a frequent word follows changes of its pages") {
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

}  // namespace
}  // namespace ratchet
