// Processor time of gate and status with a large ledger, and of the steps of a long run. Prints
// figures; nothing is asserted about time. RATCHET_SPEED_RUNS sets how many runs there
// are (10), RATCHET_SPEED_VERSIONS of how many versions each (10), RATCHET_SPEED_LONG how many
// versions the long run has (30).

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/core/clock.h"
#include "server/runs/ledger/ledger.h"
#include "tests/support/runs_samples.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

/// Processor time, which other programs do not affect.
double milliseconds(const std::function<void()>& work) {
  const auto begin = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

int size_from_environment(const char* name, int otherwise = 10) {
  const char* const wanted = std::getenv(name);
  return wanted == nullptr ? otherwise : std::atoi(wanted);
}

/// The median.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

TEST_CASE("time of gate and status with a ledger of many runs", "[runs][speed][slow]") {
  const int count = size_from_environment("RATCHET_SPEED_RUNS");
  const int versions = size_from_environment("RATCHET_SPEED_VERSIONS");
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

TEST_CASE("time of an append to the ledger", "[runs][speed][slow]") {
  constexpr int kRows = 2000;
  const test::TempFolder folder;
  const std::string payload(2000, 'x');
  for (const bool durable : {false, true}) {
    auto ledger = Ledger::open(folder / (durable ? "durable" : "fast"), durable);
    REQUIRE(ledger);
    std::vector<double> busy;
    std::vector<double> wall;
    for (int i = 0; i < kRows; ++i) {
      const NewRow row{RunId{"run-1"}, VersionId{0}, "note", utc_now(), payload, {}};
      const auto begin = std::chrono::steady_clock::now();
      busy.push_back(milliseconds([&] { REQUIRE((*ledger)->append(row, i)); }));
      wall.push_back(milliseconds_since(begin));
    }
    WARN(fmt::format("append{}: {:.1f} us of the processor, {:.1f} us in all",
                     durable ? ", synced" : "", 1e3 * median(busy), 1e3 * median(wall)));
  }
}

constexpr int kMeasured = 5;  // versions in a row, for a median

/// The steps of an iteration in their order, each with its times.
class Iterations {
 public:
  explicit Iterations(const samples::Workshop& shop) : shop_(shop) {}

  /// One iteration, from one passed gate to the next.
  void play(int version) {
    const auto speedup = 1.0 + 0.001 * version;
    step("submit_kernel", [&] { shop_.submit(samples::kernel_text(version)); });
    step("check_correctness", [&] { shop_.check(); });
    step("profile_kernel", [&] { shop_.measure(1000 / speedup, speedup, Verdict::faster); });
    step("two query_kbs", [&] { shop_.query(); });
    step("write_kbs_evidence",
         [&] { CHECK(shop_.runs().write_evidence(shop_.run, samples::evidence())); });
    step("write_hypothesis", [&] { shop_.write_hypothesis(fmt::format("change {}", version)); });
    step("check_gate", [&] { CHECK(shop_.gate().passed); });
    step("run_status", [&] { CHECK(shop_.status().integrity.empty()); });
  }

  [[nodiscard]] std::string report() const {
    std::string text;
    double sum = 0;
    for (const auto& [name, times] : steps_) {
      text += fmt::format("\n  {:<20}{:8.2f} ms", name, median(times));
      sum += median(times);
    }
    return text + fmt::format("\n  {:<20}{:8.2f} ms", "together", sum);
  }

 private:
  void step(const char* name, const std::function<void()>& work) {
    const double time = milliseconds(work);
    const auto found = std::ranges::find(steps_, name, &Times::first);
    if (found == steps_.end())
      steps_.push_back({name, {time}});
    else
      found->second.push_back(time);
  }

  using Times = std::pair<std::string, std::vector<double>>;
  const samples::Workshop& shop_;
  std::vector<Times> steps_;
};

TEST_CASE("time of the steps of a long run", "[runs][speed][slow]") {
  const int last = size_from_environment("RATCHET_SPEED_LONG", 30);
  const samples::Workshop shop(last + 1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  int version = 1;
  for (const int stop : {30, 100, 300, 1000, 3000}) {
    if (stop > last) break;
    Iterations unmeasured(shop);
    while (version <= stop - kMeasured) unmeasured.play(version++);
    Iterations measured(shop);
    while (version <= stop) measured.play(version++);
    WARN(fmt::format(
        "v{} of one run, ledger of {:.0f} MB:{}", stop,
        1e-6 * static_cast<double>(samples::fs::file_size(shop.state() / "ledger.sqlite")),
        measured.report()));
  }
}

}  // namespace
}  // namespace ratchet
