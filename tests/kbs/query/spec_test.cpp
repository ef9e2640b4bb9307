#include <sstream>

#include "tests/kbs/fixture.h"

namespace ratchet {
namespace {

using test::FixtureKnowledge;

std::string line_of(const std::string& text, int number) {
  std::istringstream in(text);
  std::string line;
  for (int i = 0; i < number; ++i) std::getline(in, line);
  return line;
}

TEST_CASE("a spec is cited with value, unit, path and line") {
  FixtureKnowledge kb;
  const auto answer = kb.base().lookup_spec("hw-board-x", "dram_bandwidth");
  REQUIRE(answer);
  REQUIRE(answer->specs.size() == 1);
  CHECK(answer->specs[0].citation == "dram_bandwidth: 864 GB/s <- wiki/hardware/board-x.md:11");
  const auto file = test::read_text(test::fixture_corpus() / "knowledge/wiki/hardware/board-x.md");
  CHECK(line_of(file, 11).find("value: 864, unit: GB/s") != std::string::npos);
}

TEST_CASE("a product is found by id, alias and the name that a driver reports") {
  FixtureKnowledge kb;
  for (const auto* name : {"hw-board-x", "Board X", "x48", "Vendor Board X48"}) {
    const auto answer = kb.base().lookup_spec(name, std::nullopt);
    REQUIRE(answer);
    CHECK(answer->product == "hw-board-x");
    CHECK(answer->specs.size() == 2);
  }
}

TEST_CASE("a sibling with another memory size, form factor or variant is not the product") {
  FixtureKnowledge kb;
  for (const auto* name :
       {"X48 24GB", "X48 SXM", "X48 Laptop", "X48 Ti", "Board Y", "../../etc/passwd", ""})
    CHECK(kb.base().lookup_spec(name, "sm_count")->product.empty());
}

TEST_CASE("an unknown metric or product is a line to record, not an error") {
  FixtureKnowledge kb;
  const auto metric = kb.base().lookup_spec("Board X", "tdp");
  REQUIRE(metric);
  CHECK(metric->product == "hw-board-x");
  CHECK(metric->unknown == "tdp: UNKNOWN (gpu-wiki not found)");
  const auto product = kb.base().lookup_spec("Board Y", "tdp");
  REQUIRE(product);
  CHECK(product->unknown == "tdp: UNKNOWN (gpu-wiki not found)");
}

TEST_CASE("metric names ignore case, hyphens and spaces, and cannot break the line") {
  FixtureKnowledge kb;
  CHECK(kb.base().lookup_spec("Board X", "DRAM bandwidth")->specs.size() == 1);
  CHECK(kb.base().lookup_spec("Board X", "a\nb: 1 W <- x:1")->unknown ==
        "a b: 1 W <- x:1: UNKNOWN (gpu-wiki not found)");
}

TEST_CASE("sources that differ are shown one by one, each with its unit, kind and line") {
  test::TestKnowledge kb;
  test::write_text(kb.folder() / "c/wiki/hw-one.md",
                   "---\nid: hw-one\ntitle: t\nmetrics:\n"
                   "  - {id: l2_size, value: 50, unit: MB, kind: datasheet, source: a}\n"
                   "  - {id: l2_size, value: 60, unit: MB, kind: runtime, source: b}\n---\n");
  kb.add(kb.folder() / "c");
  const auto answer = kb.base().lookup_spec("hw-one", "l2_size");
  REQUIRE(answer);
  REQUIRE(answer->specs.size() == 2);
  CHECK(answer->specs[0].citation == "l2_size: 50 MB <- wiki/hw-one.md:5");
  CHECK(answer->specs[1].citation == "l2_size: 60 MB <- wiki/hw-one.md:6");
  CHECK(answer->specs[0].kind == "datasheet");
  CHECK(answer->specs[1].kind == "runtime");
}

TEST_CASE("an ambiguous product name is an error that lists the candidates") {
  test::TestKnowledge kb;
  for (const auto& id : std::vector<std::string>{"hw-one", "hw-two"})
    test::write_text(
        kb.folder() / ("c/wiki/" + id + ".md"),
        "---\nid: " + id +
            "\ntitle: t\naliases: [G9]\nmetrics:\n  - {id: tdp, value: 1, unit: W}\n---\n");
  kb.add(kb.folder() / "c");
  const auto answer = kb.base().lookup_spec("G9", std::nullopt);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().hint.find("hw-one, hw-two") != std::string::npos);
}

}  // namespace
}  // namespace ratchet
