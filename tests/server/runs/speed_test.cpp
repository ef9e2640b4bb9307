// How much processor time gate and status take beside a full ledger. Figures for people: nothing is
// asserted about time. RATCHET_SPEED_RUNS sets how many runs there are (10), RATCHET_SPEED_VERSIONS
// of how many versions each (10).

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <ctime>
#include <functional>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

/// Time of the processor, so that neighbours do not count.
double milliseconds(const std::function<void()>& work) {
  const auto begin = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

int from_environment(const char* name) {
  const char* const wanted = std::getenv(name);
  return wanted == nullptr ? 10 : std::atoi(wanted);
}

/// Median over some of the runs.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

TEST_CASE("gate and status answer from a ledger of many runs", "[runs][speed][slow]") {
  const int count = from_environment("RATCHET_SPEED_RUNS");
  const int versions = from_environment("RATCHET_SPEED_VERSIONS");
  samples::Workshop shop(versions);
  std::vector<RunId> runs;
  for (int i = 0; i < count; ++i) {
    auto made = shop.new_run(samples::contract(versions));
    made.output_dir = shop.out().parent_path() / fmt::format("run{}", i);
    shop.run = shop.runs().create(made)->run;
    runs.push_back(shop.run);
    shop.finish_v0();
    for (int version = 1; version < versions; ++version) {
      REQUIRE(shop.gate().passed);
      shop.finish_version(version);
      shop.write_hypothesis(fmt::format("change {}", version));
    }
  }
  std::vector<double> status, refused, gate;
  for (const auto& run : runs) {
    shop.run = run;
    (void)shop.status();  // the first call folds the ledger into memory
    status.push_back(milliseconds([&] { (void)shop.status(); }));
    refused.push_back(milliseconds([&] { CHECK_FALSE(shop.gate(true).passed); }));
    gate.push_back(milliseconds([&] { CHECK(shop.gate().passed); }));
  }
  const auto audit = shop.runs().audit(runs.back());
  CHECK(audit->intact);
  WARN(
      fmt::format("{} runs of {} versions, {} rows a run: status {:.2f} ms, gate {:.2f} ms when "
                  "it refuses, {:.2f} ms with the files of a passage",
                  count, versions, audit->rows, median(status), median(refused), median(gate)));
}

}  // namespace
}  // namespace ratchet
