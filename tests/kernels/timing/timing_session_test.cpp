#include "kernels/timing/timing_session.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>

using namespace ratchet;

namespace {

std::string code_of(const std::vector<wire::CallSpan>& calls, double median_ns) {
  const auto reason = reason_of_spans(calls, median_ns);
  return reason ? reason->code : "";
}

/// Two contestants; the first takes 10 µs, the other `ratio` times that, in every other round `odd`
/// times.
SessionRecord recorded(std::size_t rounds, double ratio, double odd) {
  SessionRecord session;
  session.contestants = {{"one", {}, {}}, {"other", {}, {}}};
  for (std::size_t i = 0; i < rounds * kBlocksOfRound; ++i) {
    const double other = 10'000 * (i / kBlocksOfRound % 2 == 0 ? ratio : odd);
    session.contestants[0].blocks.push_back({.elapsed_ns = {10'000, 10'000}});
    session.contestants[1].blocks.push_back({.elapsed_ns = {other, other}});
  }
  return session;
}

SessionRecord clear(std::size_t rounds) {
  return recorded(rounds, 1.1, 1.1);
}

/// Between the same and 2 % faster: more rounds might tell.
SessionRecord unclear(std::size_t rounds) {
  return recorded(rounds, 1, 1.02);
}

/// Kernels of these times, ms, after one whole round of two calls a block.
SessionRecord begun(const std::vector<double>& times_ms) {
  SessionRecord session;
  for (const auto ms : times_ms) {
    session.contestants.push_back({std::to_string(ms), {}, {}});
    for (std::size_t i = 0; i < kBlocksOfRound; ++i)
      session.contestants.back().blocks.push_back({.elapsed_ns = {ms * 1e6, ms * 1.01e6}});
  }
  return session;
}

std::vector<bool> distant_of(SessionRecord session) {
  note_distant(session);
  std::vector<bool> distant;
  for (const auto& one : session.contestants) distant.push_back(one.distant);
  return distant;
}

/// A slow first contestant beside two fast ones, as a sparing session records them; the second
/// block of a fast one takes 1 % longer.
SessionRecord spared(std::size_t rounds) {
  auto session = begun({27, 0.5, 0.55});
  note_distant(session);
  for (std::size_t i = 1; i < rounds; ++i) {
    session.contestants[0].blocks.emplace_back();
    session.contestants[0].blocks.push_back({.elapsed_ns = {i % 2 == 0 ? 27.0e6 : 27.5e6}});
    for (std::size_t c = 1; c < 3; ++c) {
      const auto times = session.contestants[c].blocks.front().elapsed_ns;
      session.contestants[c].blocks.push_back({.elapsed_ns = {times[0], times[0]}});
      session.contestants[c].blocks.push_back({.elapsed_ns = {times[1], times[1]}});
    }
  }
  return session;
}

}  // namespace

TEST_CASE("calls whose span fits their time are accepted", "[timing]") {
  CHECK(code_of({{1, 30'000}, {1, 31'000}, {1, 29'000}}, 31'000).empty());
  // The limit is 1.5 times 10 µs plus 5 µs: 20 µs.
  CHECK(code_of({{1, 20'000}, {1, 20'000}, {1, 20'000}}, 10'000).empty());
}

TEST_CASE("work outside the events is a contradiction", "[timing]") {
  CHECK(code_of({{2, 20'100}, {2, 20'100}, {2, 20'100}}, 10'000) == "span_exceeds_events");
  // One slow call of several is due to the machine.
  CHECK(code_of({{2, 90'000}, {2, 11'000}, {2, 11'000}}, 10'000).empty());
}

TEST_CASE("varying numbers of launches are a contradiction", "[timing]") {
  CHECK(code_of({{1, 9'000}, {2, 9'000}, {1, 9'000}}, 10'000) == "launches_vary");
}

TEST_CASE("fewer than three calls prove nothing", "[timing]") {
  CHECK(code_of({}, 10'000).empty());
  CHECK(code_of({{1, 90'000}, {2, 90'000}}, 10'000).empty());
}

TEST_CASE("a session ends at a look that decides", "[timing]") {
  const SessionPlan plan;

  CHECK(reason_to_stop(clear(8), plan, 100) == "interval_reached");
  CHECK(reason_to_stop(recorded(8, 1, 1), plan, 100) == "interval_reached");
  CHECK_FALSE(reason_to_stop(unclear(8), plan, 100));
  // Nobody looks after nine rounds, else the looks would not share one error rate.
  CHECK_FALSE(reason_to_stop(clear(9), plan, 100));
  // A contestant that is out decides nothing.
  auto alone = unclear(8);
  alone.contestants[1].reasons.push_back({"wrong", "", {}});
  CHECK(reason_to_stop(alone, plan, 100) == "interval_reached");
}

TEST_CASE("an undecided session ends when its time or its rounds are used up", "[timing]") {
  SessionPlan plan;
  plan.time_limit = std::chrono::seconds(1);

  CHECK(reason_to_stop(unclear(9), plan, 1'000) == "time_limit");
  CHECK_FALSE(reason_to_stop(unclear(7), plan, 1'000));  // too few for any verdict
  CHECK(reason_to_stop(unclear(7), plan, 4'000) == "time_limit");
  CHECK(reason_to_stop(unclear(kMostRounds), plan, 100) == "sample_limit");
  plan.patient = true;
  CHECK_FALSE(reason_to_stop(unclear(kMostRounds), plan, 100));
}

TEST_CASE("the verdicts of a session have the error rate of its last look", "[timing]") {
  auto session = clear(13);
  SessionPlan plan;
  conclude(session, plan);

  CHECK(session.error_rate == kErrorRate * look_at(1).share);
  CHECK(session.noise_floor == kLeastNoise);
  CHECK(comparison_of(session, 1)->verdict == Verdict::faster);
  plan.samples = 26;  // a given number of samples is looked at once
  conclude(session, plan);
  CHECK(session.error_rate == kErrorRate);
}

TEST_CASE("distant is who is far slower than all that it is compared with", "[timing]") {
  using Distant = std::vector<bool>;
  CHECK(distant_of(begun({27, 0.5, 0.6})) == Distant{true, false, false});
  // One of the others is near: rounds as ever.
  CHECK(distant_of(begun({27, 0.5, 7})) == Distant{false, false, false});
  CHECK(distant_of(begun({0.5, 27, 0.6})) == Distant{false, true, false});
  // Short calls cost nothing. 5 ms fill a block.
  CHECK(distant_of(begun({4.9, 0.5})) == Distant{false, false});
  CHECK(distant_of(begun({5, 0.5})) == Distant{true, false});
  // Four times the longest call of the other.
  CHECK(distant_of(begun({27, 27 / 4.05})) == Distant{true, false});
  CHECK(distant_of(begun({27, 27 / 4.03})) == Distant{false, false});
  CHECK(distant_of(begun({27})) == Distant{false});
}

TEST_CASE("who is out makes nobody distant", "[timing]") {
  auto session = begun({27, 0.5});
  session.contestants[1].reasons.push_back({"wrong", "", {}});

  CHECK(distant_of(session) == std::vector<bool>{false, false});
}

TEST_CASE("a distant contestant's rounds decide with one call each", "[timing]") {
  const auto session = spared(13);
  SessionPlan plan;
  plan.rivals = 2;
  auto ended = session;
  conclude(ended, plan);
  const auto speedups = challenges_of(ended);

  REQUIRE(speedups);
  REQUIRE(speedups->size() == 2);
  CHECK((*speedups)[0].verdict == Verdict::faster);
  CHECK((*speedups)[0].pairs == 13);  // the first round has more calls than the one discarded
  CHECK((*speedups)[0].ci_low > 53);  // 27 ÷ 0.505
  CHECK((*speedups)[0].ci_high < 55);
  // Times of the first that scatter by 1 % would be asked for 55 rounds if they had to be precise.
  CHECK(reason_to_stop(session, plan, 100) == "interval_reached");
  CHECK(reason_to_stop(spared(9), plan, 100) == "interval_reached");
  CHECK_FALSE(reason_to_stop(spared(8), plan, 100));  // two verdicts need nine rounds
}

TEST_CASE("a given number of samples is counted where it is taken", "[timing]") {
  SessionPlan plan;
  plan.samples = 28;  // four a round

  CHECK(reason_to_stop(spared(7), plan, 100) == "sample_limit");
  CHECK_FALSE(reason_to_stop(spared(6), plan, 100));
}

TEST_CASE("without a calibration the floor is the scatter of whole rounds", "[timing]") {
  auto session = spared(13);
  conclude(session, {});

  CHECK(session.noise_floor > 0.009);  // 1 % between the two blocks of a fast one
  CHECK(session.noise_floor < 0.011);
}

TEST_CASE("blocks without calls do not count among those in which cores were held", "[timing]") {
  const std::vector<wire::Samples> blocks{{}, {.elapsed_ns = {1.0}, .held = 0.5}};

  CHECK(held_share(blocks) == 0.5);
}

namespace {

/// A call as tests/gpu/results/instrument.md has it: its time, and what tracing may have added.
struct Traced {
  double us, tracing_us;
};

/// Twelve rounds of both, one of them beside the other.
SessionRecord traced(const Traced& candidate, const Traced& other) {
  SessionRecord session;
  for (const auto& one : {candidate, other}) {
    session.contestants.push_back({session.contestants.empty() ? "one" : "other", {}, {}});
    for (std::size_t i = 0; i < 12 * kBlocksOfRound; ++i) {
      wire::Samples block;
      for (const double off : {0.999, 1.0, 1.001}) block.elapsed_ns.push_back(1e3 * one.us * off);
      if (one.tracing_us > 0) block.tracing_ns = 1e3 * one.tracing_us;
      session.contestants.back().blocks.push_back(std::move(block));
    }
  }
  return session;
}

// 50 launches of 2.5 µs, and the same work in fewer of them: all that is saved is tracing.
constexpr Traced kFifty{135.4, 50 * 0.22};
constexpr Traced kTwentyFive{129.9, 25 * 0.22};

}  // namespace

TEST_CASE("a kernel for which alone the device lowers its clock has no verdict", "[timing]") {
  // 10 % faster, but in so many of its 24 blocks (or of the other's) at 1,000 MHz and so slower.
  const auto judged = [](std::size_t candidate, std::size_t other) {
    auto session = clear(12);
    for (std::size_t side = 0; side < 2; ++side) {
      auto& blocks = session.contestants[side].blocks;
      for (auto& block : blocks) block.clock_mhz = {1980, 1980};
      for (std::size_t i = 0; i < (side == 0 ? candidate : other); ++i) {
        auto& block = blocks[(2 * i + side) % blocks.size()];
        for (auto& time : block.elapsed_ns) time *= 1.98;
        block.clock_mhz = {1000, 1000};
      }
    }
    const auto compared = comparison_of(session, 1);
    REQUIRE(compared);
    CHECK(has_flag(*compared, kThrottled) == (candidate + other > 0));
    return compared->verdict;
  };
  CHECK(judged(0, 0) == Verdict::faster);
  CHECK(judged(10, 0) == Verdict::inconclusive);
  CHECK(judged(0, 10) == Verdict::faster);  // the other one's loss
  CHECK(judged(10, 10) == Verdict::faster);
  CHECK(judged(1, 0) == Verdict::faster);
}

TEST_CASE("ratios of rounds keep their place where a contestant has no time", "[timing]") {
  auto session = recorded(3, 2, 3);
  session.discard_first = 0;
  for (std::size_t i = 0; i < kBlocksOfRound; ++i)
    session.contestants[1].blocks[kBlocksOfRound + i].elapsed_ns.clear();

  CHECK(round_ratios(session, 1) == std::vector<double>{2, 0, 2});
}

TEST_CASE("a gain that tracing fewer kernels explains is not told", "[timing]") {
  const auto session = traced(kTwentyFive, kFifty);
  const auto faster = comparison_of(session, 1);
  REQUIRE(faster);
  CHECK(faster->ci_low > 1.03);
  CHECK(faster->verdict == Verdict::inconclusive);
  CHECK(has_flag(*faster, kTracingBias));
  // From the other side, as in a race, it is the same.
  const auto slower = challenges_of(session);
  REQUIRE(slower);
  CHECK(slower->front().verdict == Verdict::inconclusive);
  CHECK(has_flag(slower->front(), kTracingBias));
}

TEST_CASE("a gain beyond what tracing explains, and one of as many kernels, stays", "[timing]") {
  const auto fused = comparison_of(traced({56.3, 0}, kFifty), 1);
  const auto shorter = comparison_of(traced({130, kFifty.tracing_us}, kFifty), 1);
  const auto single = comparison_of(traced({5.2, 0}, {5.4, 0}), 1);

  for (const auto& one : {fused, shorter, single}) {
    REQUIRE(one);
    CHECK(one->verdict == Verdict::faster);
    CHECK_FALSE(has_flag(*one, kTracingBias));
  }
}

TEST_CASE("a time says what tracing may have added where that is more than 2 % of it", "[timing]") {
  const auto timing = [](const Traced& one) {
    auto told = timing_of(traced(one, one), 0, {});
    REQUIRE(told);
    return *std::move(told);
  };
  CHECK(timing(kFifty).tracing_ns == 11'000);
  CHECK(timing(kFifty).flags == std::vector<std::string>{kTracingBias});
  CHECK(timing({135.4, 2 * 0.22}).tracing_ns == 440);
  CHECK(timing({135.4, 2 * 0.22}).flags.empty());
  CHECK_FALSE(timing({5.4, 0}).tracing_ns);
}

TEST_CASE("a clock is held against the device's highest, even if no calibration saw that",
          "[timing]") {
  auto session = clear(12);
  for (auto& block : session.contestants[0].blocks) block.clock_mhz = {1400, 1400};
  SessionPlan plan;
  plan.noise.emplace().clock_mhz = 1410;
  CHECK(timing_of(session, 0, plan)->flags.empty());
  plan.max_clock_mhz = 1980;

  const auto timing = timing_of(session, 0, plan);

  REQUIRE(timing);
  CHECK(timing->flags == std::vector<std::string>{kPowerLimited});
  CHECK(timing->device_clock->value == 1980);
}
