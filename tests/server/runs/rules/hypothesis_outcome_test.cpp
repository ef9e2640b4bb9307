#include "server/runs/rules/hypothesis_outcome.h"

#include <catch2/catch_test_macros.hpp>

#include "server/runs/rules/conditions.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

/// v1 tests a hypothesis of v0. Its speedup over its parent is 3.1, with the interval 2.9 to 3.4.
RunState tested(const std::string& accept_if, const std::string& reject_if = "") {
  RunState state;
  state.versions.resize(2);
  state.versions[0].hypothesis = samples::hypothesis();
  state.versions[0].hypothesis->accept_if = accept_if;
  state.versions[0].hypothesis->reject_if = reject_if;
  auto& version = state.versions[1];
  version.id = VersionId{1};
  version.parent = VersionId{0};
  const auto candidate = samples::candidate(samples::kernel_text(1));
  version.profile = samples::profile(candidate, 1000);
  version.profile->comparisons = {{"parent", 3.1, 2.9, 3.4, 50, 0.005, Verdict::faster}};
  version.correctness = samples::correctness(candidate);
  version.build = BuildFact{};
  version.build->candidate = candidate;
  version.build->candidate.build.registers = 64;
  return state;
}

HypothesisOutcome outcome(const RunState& state) {
  return hypothesis_outcome(state, state.versions[1]).value();
}

TEST_CASE("a hypothesis is accepted when all of accept_if holds and none of reject_if", "[rules]") {
  const auto found = outcome(tested("speedup >= 2 and registers <= 64", "speedup < 1.05"));
  CHECK(found.decision == Decision::accepted);
  CHECK(found.words ==
        "accept_if: speedup >= 2 holds: measured 3.1 (2.9 … 3.4), registers <= 64 holds: measured "
        "64; reject_if: speedup < 1.05 does not hold: measured 3.1 (2.9 … 3.4)");
  CHECK(outcome(tested("speedup >= 4")).decision == Decision::rejected);
  CHECK(outcome(tested("speedup >= 2 and registers <= 63")).decision == Decision::rejected);
  CHECK(outcome(tested("speedup >= 2", "median_ns > 500")).decision == Decision::rejected);
}

TEST_CASE("a bound within the interval decides nothing", "[rules]") {
  const auto found = outcome(tested("speedup >= 3"));
  CHECK(found.decision == Decision::undecided);
  CHECK(found.words == "accept_if: speedup >= 3 is open: measured 3.1 (2.9 … 3.4)");
  CHECK(outcome(tested("speedup >= 2", "speedup < 3")).decision == Decision::undecided);
}

TEST_CASE("what the verdict calls inconclusive for its noise is not accepted", "[rules]") {
  auto state = tested("speedup >= 1.05");
  auto& comparison = state.versions[1].profile->comparisons.front();
  comparison.noise_floor = 2.2;
  comparison.verdict = Verdict::inconclusive;
  const auto found = outcome(state);
  CHECK(found.decision == Decision::undecided);
  CHECK(found.words ==
        "accept_if: speedup >= 1.05 is open: measured 3.1 (2.9 … 3.4) with 220 % of noise");
  comparison.noise_floor = 0.02;
  CHECK(outcome(state).decision == Decision::accepted);
}

TEST_CASE("what was not measured or cannot be read is open, and named", "[rules]") {
  const auto unknown = outcome(tested("warp_speed >= 9"));
  CHECK(unknown.decision == Decision::undecided);
  CHECK(unknown.words == "accept_if: warp_speed >= 9 is open: not measured");
  const auto percent = outcome(tested("speedup >= 2 and bandwidth_fraction >= 40 %"));
  CHECK(percent.decision == Decision::undecided);
  CHECK(percent.words.find("\"bandwidth_fraction >= 40 %\" cannot be read") != std::string::npos);
}

TEST_CASE("prose beside conditions is welcome, and prose alone decides nothing", "[rules]") {
  CHECK(outcome(tested("Faster than its parent: `speedup >= 2`, as the profile promised."))
            .decision == Decision::accepted);
  CHECK(outcome(tested("The verdict is faster -> keep it.", "It is slower.")).decision ==
        Decision::prose);
}

TEST_CASE("an incorrect version is rejected, whatever was measured", "[rules]") {
  auto state = tested("speedup >= 2");
  state.versions[1].correctness->passed = false;
  CHECK(outcome(state).decision == Decision::rejected);
  state.versions[0].hypothesis.reset();
  CHECK_FALSE(hypothesis_outcome(state, state.versions[1]));
}

std::string read_from(const std::string& prose) {
  std::string text;
  for (const auto& one : conditions_within(prose).all) text += one.text() + "|";
  return text;
}

TEST_CASE("conditions are read with their units, and other words are left alone", "[rules]") {
  CHECK(read_from("speedup>=3x, or so") == "speedup >= 3|");
  CHECK(read_from("speedup ≥ 1.5 and median_ns ≤ 2 ms") == "speedup >= 1.5|median_ns <= 2e+06|");
  CHECK(read_from("median_ns < 300us.") == "median_ns < 300000|");
  CHECK(read_from("x -> y, a = b, faster => better") == "");
  CHECK(conditions_within("time < 2 ms").unreadable == std::vector<std::string>{"time < 2 ms"});
  CHECK(conditions_within("x -> y").unreadable.empty());
  CHECK(evaluated_text({.accept_if = "speedup >= 3", .reject_if = "time < 2 ms"}) ==
        "accept_if speedup >= 3; cannot be read: time < 2 ms");
}

}  // namespace
}  // namespace ratchet
