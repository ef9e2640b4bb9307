#include "kbs/documents/page_reader.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "kbs/documents/labels.h"

namespace ratchet::kbs {
namespace {

TEST_CASE("the body of a page begins on the line after the closing fence") {
  const auto parts = split_page("---\nid: a\n---\nfirst\n");
  CHECK(parts.header == "id: a\n");
  CHECK(parts.body == "first\n");
  CHECK(parts.body_line == 4);
}

TEST_CASE("a header that is never closed counts as body") {
  CHECK(split_page("---\nid: a\n").header.empty());
}

TEST_CASE("a page without an id is rejected with the reason") {
  const auto page = read_page("wiki/x.md", "---\ntitle: no name\n---\n");
  REQUIRE_FALSE(page);
  CHECK(page.error().message.find("`id`") != std::string::npos);
}

TEST_CASE("an id that could be taken for a path is rejected") {
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: ../../etc\n---\n"));
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: a/b\n---\n"));
}

TEST_CASE("invalid YAML is rejected with its line in the file") {
  const auto page = read_page("wiki/x.md", "---\nid: a\ntags: [open\n---\n");
  REQUIRE_FALSE(page);
  CHECK(page.error().message.find("line") != std::string::npos);
}

TEST_CASE("deeply nested YAML is an error, not a crash") {
  const auto page =
      read_page("wiki/x.md", "---\nid: a\ntags: " + std::string(100'000, '[') + "\n---\n");
  CHECK_FALSE(page);
}

TEST_CASE("a header that expands without bound through anchors is an error") {
  // Each level contains the previous one five times: 10 * 5^7 values.
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i)
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  CHECK_FALSE(header_json(bomb));
}

TEST_CASE("what aliases expand to is counted in bytes, and refused with its line") {
  // Two thousand aliases of 1.5 KB: 3 MB of few values.
  std::string page = "---\nid: a\nwords: &w \"" + std::string(1500, 'x') + "\"\ntags: [";
  for (int i = 0; i < 2000; ++i) page += "*w, ";
  page += "]\n---\n";

  const auto read = read_page("wiki/x.md", page);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("2 MiB") != std::string::npos);
  CHECK(read.error().message.find("line 4") != std::string::npos);
  CHECK_FALSE(header_json(split_page(page).header));
}

TEST_CASE("an alias that contains itself is an error, not a crash") {
  CHECK_FALSE(header_json("a: &a [x, *a]"));
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: a\ntags: &a [*a]\n---\n"));
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 500; ++i) chain += fmt::format("a{0}: &a{0} [*a{1}]\n", i, i - 1);
  CHECK_FALSE(header_json(chain));
}

TEST_CASE("aliases that repeat little, and long plain headers, are read") {
  const auto header = header_json("a: &a [one, two]\nb: *a\nc: [*a, *a]");
  REQUIRE(header);
  CHECK(header->at("c").at(1) == Json::array({"one", "two"}));
  std::string tags = "tags:\n";
  for (int i = 0; i < 10'000; ++i) tags += fmt::format("  - tag-{}\n", i);
  CHECK(header_json(tags)->at("tags").size() == 10'000);
}

TEST_CASE("a list of words that all stand for each other is bounded by what it takes") {
  std::string group = "gemm: [";
  for (int i = 0; i < 1500; ++i) group += fmt::format("w{},", i);
  const auto refused = read_vocabulary(group + "]");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::too_large);
  CHECK(refused.error().message.find("\"gemm\"") != std::string::npos);
  CHECK(refused.error().hint.find("aliases") != std::string::npos);

  // In one direction they do not multiply.
  CHECK(read_vocabulary("aliases:\n  " + group + "]")->size() == 1500);
  CHECK(read_vocabulary("gemm: [matmul, mm]")->size() == 6);
}

TEST_CASE("text that is not UTF-8 is rejected") {
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: a\n---\n\xff\xfe"));
  for (const auto* wrong : {"\xc0\x80", "\xe0\x92\x90", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                            "\xf4\x90\x80\x80", "\xe2\x82"})
    CHECK_FALSE(is_utf8(wrong));
  // The first and last of each length, and the neighbors of the surrogates.
  for (const auto* right : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                            "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    CHECK(is_utf8(right));
}

TEST_CASE("YAML in another encoding is rejected, whoever asks") {
  const std::string wide("\x15\0\0\0\0\0? [\0", 9);  // UTF-32, of no character
  CHECK_FALSE(header_json(wide));
  CHECK_FALSE(read_vocabulary(wide));
  CHECK_FALSE(read_vocabulary("a: [\xff]"));
  CHECK(read_vocabulary("größe: [数]"));
  CHECK_FALSE(header_json(R"(a: "\_")"));
  CHECK(header_json(R"(a: "\u00a0 \L")")->at("a") == "\u00a0 \u2028");
}

TEST_CASE("a metric carries its line number") {
  // Line 1 is the fence, 2 the id, 3 `metrics:`, 4 the row.
  const auto page =
      read_page("wiki/x.md", "---\nid: a\nmetrics:\n  - {id: tdp, value: 72, unit: W}\n---\n");
  REQUIRE(page);
  REQUIRE(page->specs.size() == 1);
  CHECK(page->specs[0].line == 4);
  CHECK(page->specs[0].value == 72);
}

TEST_CASE("a metric whose value is not a number is rejected") {
  CHECK_FALSE(read_page("wiki/x.md", "---\nid: a\nmetrics:\n  - {id: tdp, value: many}\n---\n"));
}

TEST_CASE("device names and spellings of a compute capability map to one architecture") {
  for (const auto* name : {"B200", "Blackwell", "SM100", "sm_100a", "compute_100", "sm100f"})
    CHECK(normal_architecture(name) == "sm100");
  CHECK(normal_architecture("MI300X") == "gfx942");
  CHECK(normal_architecture("H200") == "sm90");
  for (const char* name : {"NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe"})
    CHECK(normal_architecture(name) == "sm90");
  CHECK(normal_architecture("NVIDIA A100-SXM4-80GB") == "sm80");
  CHECK(normal_architecture("NVIDIA GeForce RTX 4090") == "sm89");
  CHECK(normal_architecture("NVIDIA Jetson") == "nvidiajetson");
}

TEST_CASE("a PR's default label counts only when its text supports it") {
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

TEST_CASE("aliases work in one direction, plain lists of variants in every direction") {
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
