// What an observer is told when a fact is recorded.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

bool names(const RunChange& change, const std::string& path) {
  return std::ranges::find(change.paths, path) != change.paths.end();
}

TEST_CASE("an observer is told which files a recorded fact wrote", "[runs]") {
  const samples::Workshop shop;
  std::vector<RunChange> seen;
  shop.runs().on_change([&](const RunChange& change) { seen.push_back(change); });

  shop.check();
  REQUIRE(seen.size() == 1);
  CHECK(seen.back().run == shop.run);
  CHECK(seen.back().paths == std::vector<std::string>{"v0/correctness.md"});
  CHECK(seen.back().list_changed);

  shop.check();
  REQUIRE(seen.size() == 2);
  CHECK_FALSE(seen.back().list_changed);  // the same file with another text
}

TEST_CASE("an observer is told of removed files and of the state file", "[runs]") {
  const samples::Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit(samples::kernel_text(1));
  shop.check();
  std::vector<RunChange> seen;
  shop.runs().on_change([&](const RunChange& change) { seen.push_back(change); });

  shop.submit(samples::kernel_text(2));
  CHECK(names(seen.back(), "v1/correctness.md"));
  CHECK(seen.back().list_changed);

  shop.finish_version(1);
  shop.write_hypothesis("another change");
  REQUIRE(shop.gate().passed);
  CHECK(names(seen.back(), "current_iteration.txt"));
}

TEST_CASE("facts without files and refused steps are not announced", "[runs]") {
  const samples::Workshop shop;
  int announced = 0;
  shop.runs().on_change([&](const RunChange&) { ++announced; });

  shop.query();
  CHECK_FALSE(shop.runs().permit(shop.run, Event::profiled));
  CHECK(announced == 0);
}

TEST_CASE("an observer may read the run that changed", "[runs]") {
  const samples::Workshop shop;
  Stage stage = Stage::built;
  shop.runs().on_change([&](const RunChange&) { stage = shop.status().stage; });

  shop.check();
  CHECK(stage == Stage::correct);
}

}  // namespace
}  // namespace ratchet
