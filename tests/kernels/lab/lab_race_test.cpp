#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "kernels/timing/comparison.h"
#include "tests/kernels/lab/lab_fixture.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Does the work `times` times over; volatile, so that the compiler does not merge the passes.
std::string racing_source(int times) {
  return doubling_source("for (int t = 0; t < " + std::to_string(times) +
                         "; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * x[i];");
}

std::string shown(const std::optional<Comparison>& one) {
  return one ? encode(*one).dump() : "not compared";
}

struct Race : LabFixture {
  // Some twenty rounds: a busy machine still shows that one kernel takes twice as long.
  Race() : LabFixture("python3", std::chrono::seconds(5)) {}

  Contract contract = doubling(racing_source(24), 50'000);

  Candidate candidate(const std::string& source) {
    contract.kernel.text = source;
    return built(contract);
  }

  std::vector<RaceLine> run(const std::vector<Entrant>& entrants) {
    auto lines = lab->race(contract, entrants, {contract.cases.front().dims, {}}, "secret", call);
    if (!lines) FAIL(lines.error().message);
    return *std::move(lines);
  }
};

}  // namespace

TEST_CASE("a race reports for each kernel whether it beats the first, and why one does not count",
          "[race][timed]") {
  Race fixture;
  const auto incumbent = fixture.candidate(racing_source(24));
  const auto fast = fixture.candidate(racing_source(1));
  const auto slow = fixture.candidate(racing_source(240));
  const auto wrong = fixture.candidate(doubling_source("for (int i = 0; i < n; ++i) y[i] = x[i];"));

  const auto lines =
      fixture.run({{"incumbent", &incumbent}, {"slow", &slow}, {"wrong", &wrong}, {"fast", &fast}});

  REQUIRE(lines.size() == 4);
  CHECK_FALSE(lines[0].speedup);
  INFO("slow " << shown(lines[1].speedup) << ", fast " << shown(lines[3].speedup));
  CHECK(lines[1].speedup->verdict == Verdict::slower);
  CHECK_FALSE(lines[2].reasons.empty());
  CHECK_FALSE(lines[2].speedup);
  CHECK(lines[3].speedup->verdict == Verdict::faster);
  CHECK(lines[3].speedup->against == "incumbent");
  CHECK(lines[3].slowdown->verdict == Verdict::slower);
  CHECK(lines[3].rounds.value().size() >= static_cast<std::size_t>(lines[3].speedup->pairs));
  CHECK_FALSE(lines[2].rounds);
  // Beside whom they ran is said of each, and of their comparison.
  CHECK(lines[0].timing->conditions.find("other processes: ") != std::string::npos);
  CHECK(has_flag(*lines[1].speedup, kDeviceShared) ==
        (std::ranges::count(lines[1].timing->flags, kDeviceShared) > 0));
  CHECK(has_flag(*lines[1].slowdown, kDeviceShared) == has_flag(*lines[1].speedup, kDeviceShared));
}

TEST_CASE("a race that only ranks calibrates nothing, one that decides does", "[race][timed]") {
  Race fixture;
  const auto state = fixture.folder.path() / "calibrated";
  auto lab = Lab::open({.state_dir = state,
                        .worker_dir = build_dir() / "bin",
                        .data_dir = source_dir() / "kernels",
                        .version = "test",
                        .timing_limit = std::chrono::seconds(1),
                        .noise_sessions = 1});
  REQUIRE(lab);
  fixture.lab = *std::move(lab);
  const auto one = fixture.candidate(racing_source(24));
  const auto other = fixture.candidate(racing_source(48));
  const std::vector<Entrant> entrants{{"one", &one}, {"other", &other}};
  const auto race = [&](std::optional<int> samples) {
    const auto lines =
        fixture.lab->race(fixture.contract, entrants,
                          {fixture.contract.cases.front().dims, samples}, "secret", fixture.call);
    REQUIRE(lines);
    CHECK((*lines)[1].speedup);
    return std::filesystem::exists(state / "noise");
  };

  CHECK_FALSE(race(12));
  CHECK(race(std::nullopt));
}

TEST_CASE("a race calls a far slower kernel once a round, whichever side it is on",
          "[race][timed]") {
  Race fixture;
  const auto slow = fixture.candidate(racing_source(2000));
  const auto fast = fixture.candidate(racing_source(4));
  const auto near = fixture.candidate(racing_source(5));
  const auto race = [&](const std::vector<Entrant>& entrants) {
    auto lines =
        fixture.lab->race(fixture.contract, entrants, {fixture.contract.cases.front().dims, 24},
                          "secret", fixture.call);
    REQUIRE(lines);
    return *std::move(lines);
  };
  // 24 samples are two in each of twelve rounds, less the first. The slow one has as many in the
  // first round, and one in each of eleven.
  constexpr int kAll = 23;
  constexpr int kSpared = 12;

  const auto parent = race({{"slow", &slow}, {"fast", &fast}, {"near", &near}});
  CHECK(parent[0].timing->samples == kSpared);
  CHECK(parent[1].timing->samples == kAll);
  CHECK(parent[2].timing->samples == kAll);
  CHECK(parent[1].speedup->pairs == 12);
  CHECK(parent[1].speedup->verdict == Verdict::faster);
  const auto branch = race({{"fast", &fast}, {"slow", &slow}, {"near", &near}});
  CHECK(branch[0].timing->samples == kAll);
  CHECK(branch[1].timing->samples == kSpared);
  CHECK(branch[1].speedup->verdict == Verdict::slower);
  CHECK(branch[2].timing->samples == kAll);
}
