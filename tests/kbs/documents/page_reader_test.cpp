#include "kbs/documents/page_reader.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "kbs/documents/labels.h"

namespace ratchet::kbs {
namespace {

TEST_CASE("the body of a page begins at the line behind the closing fence") {
  const auto parts = split_page("---\nid: a\n---\nfirst\n");
  CHECK(parts.header == "id: a\n");
  CHECK(parts.body == "first\n");
  CHECK(parts.body_line == 4);
}

TEST_CASE("a header that is never closed is body") {
  CHECK(split_page("---\nid: a\n").header.empty());
}

TEST_CASE("a page without an id is refused with the reason") {
  const auto page = read_page("wiki/x.md", "---\ntitle: no name\n---\n");
  REQUIRE_FALSE(page);
  CHECK(page.error().message.find("`id`") != std::string::npos);
}

TEST_CASE("an id that could be read as a path is refused") {
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: ../../etc\n---\n"));
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: a/b\n---\n"));
}

TEST_CASE("broken YAML is refused with its line in the file") {
  const auto page = read_page("wiki/x.md", "---\nid: a\ntags: [open\n---\n");
  REQUIRE_FALSE(page);
  CHECK(page.error().message.find("line") != std::string::npos);
}

TEST_CASE("deeply nested YAML ends as an error, not as a crash") {
  const auto page =
      read_page("wiki/x.md", "---\nid: a\ntags: " + std::string(100'000, '[') + "\n---\n");
  CHECK_FALSE(page);
}

TEST_CASE("a header that multiplies itself through anchors is shown as an error") {
  // Each level holds the one before five times: 10 * 5^7 values.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i)
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  CHECK_FALSE(header_json(bomb));
}

TEST_CASE("text that is not UTF-8 is refused") {
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: a\n---\n\xff\xfe"));
}

TEST_CASE("a spec row knows the line it stands on") {
  // Line 1 is the fence, 2 the id, 3 `metrics:`, 4 the row.
  const auto page =
      read_page("wiki/x.md", "---\nid: a\nmetrics:\n  - {id: tdp, value: 72, unit: W}\n---\n");
  REQUIRE(page);
  REQUIRE(page->specs.size() == 1);
  CHECK(page->specs[0].line == 4);
  CHECK(page->specs[0].value == 72);
}

TEST_CASE("a metric without a number is refused") {
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: a\nmetrics:\n  - {id: tdp, value: many}\n---\n"));
}

TEST_CASE("device names and spellings of a capability are one architecture") {
  for (const auto* name : {"B200", "Blackwell", "SM100", "sm_100a", "compute_100", "sm100f"})
    CHECK(normal_architecture(name) == "sm100");
  CHECK(normal_architecture("MI300X") == "gfx942");
  CHECK(normal_architecture("H200") == "sm90");
}

TEST_CASE("the generator's default label of a PR counts only when the text supports it") {
  const auto plain = label_architectures({"sm100"}, Scope::prs, "Refactor the scheduler");
  REQUIRE(plain.size() == 1);
  CHECK(plain[0].origin == LabelOrigin::unverified);

  const auto named = label_architectures({"sm100"}, Scope::prs, "Tune for B200");
  REQUIRE(named.size() == 1);
  CHECK(named[0].origin == LabelOrigin::derived);

  const auto other = label_architectures({"sm100"}, Scope::prs, "Add sm_90a path");
  REQUIRE(other.size() == 2);
  CHECK(other[1].name == "sm90");
  CHECK(other[1].origin == LabelOrigin::derived);
}

TEST_CASE("a vocabulary goes one way, a plain list of variants goes every way") {
  const auto one_way = read_vocabulary("aliases:\n  smem: [shared memory]\n");
  REQUIRE(one_way);
  CHECK(one_way->size() == 1);
  // tma ↔ TMA, tma ↔ bulk, TMA ↔ bulk: six directions.
  const auto every_way = read_vocabulary("tma: [TMA, bulk]\n");
  REQUIRE(every_way);
  CHECK(every_way->size() == 6);
}

}  // namespace
}  // namespace ratchet::kbs
