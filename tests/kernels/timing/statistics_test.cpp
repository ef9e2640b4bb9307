#include "kernels/timing/statistics.h"
#include "server/facts/workload_gain.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

using namespace ratchet;
using Catch::Approx;

namespace {

wire::Samples block(std::vector<double> elapsed, std::vector<double> clocks = {}) {
  wire::Samples samples;
  samples.elapsed_ns = std::move(elapsed);
  samples.clock_mhz = std::move(clocks);
  return samples;
}

/// Rounds whose ratio other ÷ candidate is the given one.
std::vector<PairedRound> rounds(const std::vector<double>& ratios) {
  std::vector<PairedRound> made;
  for (const auto ratio : ratios) made.push_back({{100, 100, 100}, {100 * ratio, 100 * ratio}});
  return made;
}

}  // namespace

TEST_CASE("a kernel whose own processes differ is told only beyond three times that",
          "[statistics]") {
  Comparison itself{"normal", 1.02, 1.015, 1.025, 10, 0.005, Verdict::faster};
  CHECK(own_noise(itself) == Approx(0.02));
  CHECK(own_noise(inverted(itself, "other")) == Approx(0.02));
  itself.verdict = Verdict::inconclusive;
  CHECK_FALSE(own_noise(itself));

  const auto held = [](double low, double high, Verdict verdict) {
    Comparison one{"parent", 1, low, high, 20, 0.005, verdict};
    hold_against_own(0.02, one);
    CHECK(has_flag(one, kOwnNoise) == (one.verdict != verdict));
    return one.verdict;
  };
  CHECK(held(1.04, 1.05, Verdict::faster) == Verdict::inconclusive);
  CHECK(held(1.07, 1.09, Verdict::faster) == Verdict::faster);
  CHECK(held(0.95, 0.96, Verdict::slower) == Verdict::inconclusive);
  CHECK(held(0.80, 0.90, Verdict::slower) == Verdict::slower);
  CHECK(held(0.999, 1.001, Verdict::same) == Verdict::same);
}

TEST_CASE("a summary is computed from the remaining samples", "[statistics]") {
  // First sample dropped; 3 … 11 stay in one round: median 7, mean 7.
  const std::vector blocks{block({1000, 11, 4, 10, 5}), block({9, 6, 8, 7, 3})};
  const auto timing = summarize(blocks, 1, CacheMode::cold);

  REQUIRE(timing);
  CHECK(timing->samples == 9);
  CHECK(timing->discarded == 1);
  CHECK(timing->median.value == 7);
  CHECK(timing->mean.value == 7);
  CHECK(timing->std.value == Approx(std::sqrt(60.0 / 8)));  // n - 1, not n
  CHECK(timing->p20.value == Approx(4.6));                  // position 0.2 * 8 = 1.6
  CHECK(timing->p80.value == Approx(9.4));
  CHECK(timing->min.value == 3);
  CHECK(timing->max.value == 11);
  // One round says nothing about how rounds differ.
  CHECK(timing->flags == std::vector<std::string>{"few_samples"});
  CHECK(timing->ci_low.value == 3);
  CHECK(timing->ci_high.value == 11);
}

TEST_CASE("the interval of a time is that of its rounds", "[statistics]") {
  std::vector<wire::Samples> hundred, thousands;
  for (int i = 1; i <= 200; ++i) hundred.push_back(block({std::ceil(i / 2.0)}));
  for (int i = 1; i <= 10'000; ++i) thousands.push_back(block({std::ceil(i / 2.0)}));

  // Tables of the sign test: n = 100 gives the 40th and 61st at 96.5 %, the 41st and 60th at 94.3
  // %.
  const auto timing = summarize(hundred, 0, CacheMode::hot);
  CHECK(timing->samples == 200);
  CHECK(timing->ci_low.value > 40);
  CHECK(timing->ci_low.value < 41);
  CHECK(timing->ci_high.value == Approx(101 - timing->ci_low.value));
  // Large n: 2500.5 - 1.96 * sqrt(5000) / 2 = 2431.2; 0.5^5000 alone would underflow.
  const auto large = summarize(thousands, 0, CacheMode::hot);
  CHECK(large->ci_low.value == Approx(2431).margin(2));
}

TEST_CASE("more calls in the same rounds do not make a time look more certain", "[statistics]") {
  const auto rounds_with = [](int calls) {
    std::vector<wire::Samples> blocks;
    for (const double time : {100.0, 103.0, 98.0, 105.0, 101.0, 97.0, 102.0, 99.0}) {
      blocks.push_back(block(std::vector<double>(static_cast<std::size_t>(calls), time)));
      blocks.push_back(blocks.back());
    }
    return *summarize(blocks, 0, CacheMode::cold);
  };

  CHECK(rounds_with(1).ci_low.value == Approx(rounds_with(500).ci_low.value).margin(1));
  CHECK(rounds_with(500).ci_high.value - rounds_with(500).ci_low.value > 4);
}

TEST_CASE("a time between two ticks of the clock has an interval, and is inside it",
          "[statistics]") {
  // All samples on one tick of 256 ns: the interval of their order statistics has no width.
  std::vector<wire::Samples> blocks(16, block({5120, 5120, 5120, 5376, 5120, 5120}));
  const auto timing = summarize(blocks, 0, CacheMode::cold);

  CHECK(timing->median.value == Approx(5120 + 256.0 / 6));
  CHECK(timing->ci_high.value - timing->median.value == Approx(256 / std::sqrt(96.0)));
  CHECK(timing->ci_low.value < timing->median.value);
}

TEST_CASE("a clock far below the device's highest is said, not dropped", "[statistics]") {
  const std::vector blocks(16, block({10, 10}, {1500, 1500}));

  CHECK(summarize(blocks, 0, CacheMode::cold, 1980)->flags ==
        std::vector<std::string>{"power_limited"});
  CHECK(summarize(blocks, 0, CacheMode::cold, 1980)->samples == 32);
  CHECK(summarize(blocks, 0, CacheMode::cold, 1600)->flags.empty());
  CHECK(summarize(blocks, 0, CacheMode::cold)->flags.empty());  // no clock known
}

TEST_CASE("throttled samples are dropped and counted", "[statistics]") {
  const std::vector blocks{block({10, 10, 30, 10}, {2000, 1990, 1400, 1501}),  // 1400 < 0.75 * 2000
                           block({10}, {1500})};
  const auto timing = summarize(blocks, 0, CacheMode::cold);

  REQUIRE(timing);
  CHECK(timing->samples == 4);
  CHECK(timing->discarded == 1);
  CHECK(timing->max.value == 10);
  CHECK(timing->clock->value == Approx((2000 + 1990 + 1501 + 1500) / 4.0));
}

TEST_CASE("a series that is mostly throttled or empty has no summary", "[statistics]") {
  const std::vector hot{block({1, 1, 1}, {2000, 1000, 1000})};
  CHECK(summarize(hot, 0, CacheMode::cold).error().message.find("too noisy") == 0);
  CHECK_FALSE(summarize(std::vector{block({1, 2})}, 2, CacheMode::cold));
  CHECK_FALSE(summarize({}, 0, CacheMode::cold));
}

TEST_CASE("few samples have no confidence interval and never stop a series", "[statistics]") {
  const auto five = summarize(std::vector(10, block({10})), 0, CacheMode::cold);
  const auto six = summarize(std::vector(12, block({10})), 0, CacheMode::cold);

  CHECK(five->flags == std::vector<std::string>{"few_samples"});
  CHECK_FALSE(precise_enough(*five, 0.01));
  CHECK(six->flags.empty());
  CHECK(precise_enough(*six, 0.01));
}

TEST_CASE("the stopping rule looks at half of the relative width", "[statistics]") {
  Timing timing;
  timing.samples = 100;
  timing.median = {200};
  timing.ci_low = {199};
  timing.ci_high = {203};

  CHECK(relative_half_width(timing) == Approx(0.01));
  CHECK(precise_enough(timing, 0.0101));
  CHECK_FALSE(precise_enough(timing, 0.0099));
}

TEST_CASE("above the largest noise floor there is no verdict 'same'", "[statistics]") {
  const auto even = rounds({1.0, 1.0, 1.0, 1.0, 1.0, 1.0});

  CHECK(compare(even, kMostNoise, "v0")->verdict == Verdict::same);
  CHECK(compare(even, 0.06, "v0")->verdict == Verdict::inconclusive);
  CHECK(compare(rounds({2.0, 2.0, 2.0, 2.0, 2.0, 2.0}), 0.06, "v0")->verdict == Verdict::faster);
}

TEST_CASE("kernels that surely differ by less than 1 % and perhaps not at all are the same",
          "[statistics]") {
  CHECK(compare(rounds({0.992, 0.997, 1.0, 1.003, 1.006, 1.008}), 0.005, "v0")->verdict ==
        Verdict::same);
  // A small difference for sure: not the same, and not beyond the noise.
  CHECK(compare(rounds({1.002, 1.003, 1.004, 1.005, 1.006, 1.008}), 0.005, "v0")->verdict ==
        Verdict::inconclusive);
}

TEST_CASE("a slow minority of calls takes a verdict back", "[statistics]") {
  // Of 20 calls, 7 take three times as long and 13 are 10 % faster.
  PairedRound round{{}, std::vector<double>(20, 1000)};
  for (int i = 0; i < 20; ++i) round.candidate_ns.push_back(i % 3 == 0 ? 2700 : 900 + i);
  const std::vector<PairedRound> made(10, round);

  const auto compared = compare(made, 0.01, "v0");

  CHECK(compared->speedup > 1.05);  // the median does not see it
  CHECK(compared->speedup_mean.value() < 0.8);
  CHECK(compared->verdict == Verdict::inconclusive);
  CHECK(has_flag(*compared, kBimodal));
  std::vector<PairedRound> swapped;
  for (const auto& one : made) swapped.push_back({one.other_ns, one.candidate_ns});
  CHECK(compare(swapped, 0.01, "v0")->verdict == Verdict::inconclusive);
}

TEST_CASE("a rare slow call, and slow calls of both sides, leave a verdict as it is",
          "[statistics]") {
  std::vector<PairedRound> rare(
      12, PairedRound{std::vector<double>(20, 900), std::vector<double>(20, 1000)});
  rare[3].candidate_ns[7] = 9000;
  rare[9].candidate_ns[2] = 9000;
  CHECK(compare(rare, 0.01, "v0")->verdict == Verdict::faster);
  CHECK_FALSE(compare(rare, 0.01, "v0")->flags);

  PairedRound both{std::vector<double>(20, 900), std::vector<double>(20, 1000)};
  for (int i = 0; i < 7; ++i) {
    both.candidate_ns[static_cast<std::size_t>(i)] = 2700;
    both.other_ns[static_cast<std::size_t>(i)] = 3000;
  }
  CHECK(compare(std::vector(12, both), 0.01, "v0")->verdict == Verdict::faster);
}

TEST_CASE("first and throttled samples stay out of comparisons", "[statistics]") {
  const std::vector fast{block({5000, 10, 10}, {2000, 2000, 2000}), block({10, 10}, {2000, 2000})};
  const std::vector mixed{block({7000, 20, 90}, {2000, 2000, 1400}), block({20, 20}, {2000, 1990}),
                          block({90}, {1400}), block({90}, {1000})};
  std::vector more = fast;
  more.insert(more.end(), fast.begin(), fast.end());

  const auto series = paired(more, mixed, 1);

  REQUIRE(series.rounds.size() == 1);
  CHECK(series.rounds.front().candidate_ns == std::vector<double>{10, 10, 10, 10});
  CHECK(series.rounds.front().other_ns == std::vector<double>{20, 20, 20});
  CHECK(series.lost == 1);
  CHECK(series.throttled == 3);
}

TEST_CASE("an inconclusive comparison says how many rounds would decide it", "[statistics]") {
  // 1.03 with 1 % of noise: 2 % of room. An interval of ± 4 % needs four times as many rounds.
  Comparison wide;
  wide.speedup = 1.03;
  wide.ci_low = 1.03 * std::exp(-0.04);
  wide.ci_high = 1.03 * std::exp(0.04);
  wide.pairs = 10;
  wide.noise_floor = 0.01;
  CHECK(rounds_to_decide(wide).value() == Approx(41.6).margin(1));

  auto on_the_limit = wide;
  on_the_limit.speedup = 1.01;
  CHECK_FALSE(rounds_to_decide(on_the_limit));
  auto decided = wide;
  decided.verdict = Verdict::faster;
  CHECK_FALSE(rounds_to_decide(decided));
  auto two_kinds = wide;
  add_flag(two_kinds, kBimodal);
  CHECK_FALSE(rounds_to_decide(two_kinds));
}

TEST_CASE("the other side sees the opposite comparison", "[statistics]") {
  const auto there = compare(rounds(std::vector<double>(9, 1.25)), 0.01, "whole");
  const auto back = inverted(*there, "without");

  CHECK(back.verdict == Verdict::slower);
  CHECK(back.speedup == Approx(0.8));
  CHECK(back.ci_low <= back.speedup);
  CHECK(back.against == "without");
}

TEST_CASE("the t-distribution matches published tables", "[statistics]") {
  CHECK(student_t(1, 0.025) == Approx(12.706).epsilon(1e-3));
  CHECK(student_t(4, 0.005) == Approx(4.604).epsilon(1e-3));
  CHECK(student_t(8, 0.005) == Approx(3.355).epsilon(1e-3));
  CHECK(student_t(7, 0.025) == Approx(2.365).epsilon(1e-3));
  CHECK(student_t(1000, 0.025) == Approx(1.962).epsilon(1e-3));
}

TEST_CASE("verdicts come from the whole interval", "[statistics]") {
  const auto verdict = [](const std::vector<double>& ratios) {
    return compare(rounds(ratios), 0.01, "v0")->verdict;
  };

  CHECK(verdict({1.05, 1.04, 1.06, 1.05, 1.03, 1.05}) == Verdict::faster);
  CHECK(verdict({0.95, 0.96, 0.94, 0.95, 0.97, 0.95}) == Verdict::slower);
  CHECK(verdict({1.001, 0.999, 1.002, 1.0, 0.995, 1.005}) == Verdict::same);
  CHECK(verdict({1.05, 1.05, 1.05, 1.05, 1.003, 1.001}) ==
        Verdict::inconclusive);                                             // low end in the noise
  CHECK(verdict({1.05, 1.05, 1.05, 1.05, 1.05}) == Verdict::inconclusive);  // five rounds
}

TEST_CASE("swapping the sides gives the opposite verdict, however noisy the device",
          "[statistics]") {
  for (const double floor : {0.005, 0.3, 1.0, 3.0})
    for (const double times : {1.2, 1.9, 2.5, 5.0}) {
      const auto there = compare(rounds(std::vector<double>(6, times)), floor, "v0")->verdict;
      const auto back = compare(rounds(std::vector<double>(6, 1 / times)), floor, "v0")->verdict;
      INFO(times << " times, floor " << floor);
      CHECK(there == (times > 1 + floor ? Verdict::faster : Verdict::inconclusive));
      CHECK(back == (times > 1 + floor ? Verdict::slower : Verdict::inconclusive));
    }
}

TEST_CASE("one outlier among many rounds does not change a verdict", "[statistics]") {
  // n = 9 drops one on each side.
  const auto comparison =
      compare(rounds({1.05, 1.05, 1.05, 1.05, 0.2, 1.05, 1.05, 1.05, 1.05}), 0.01, "parent");

  CHECK(comparison->verdict == Verdict::faster);
  CHECK(comparison->speedup == Approx(1.05));
  CHECK(comparison->against == "parent");
  CHECK(comparison->pairs == 9);
}

TEST_CASE("a round's ratio is other over candidate, without outliers", "[statistics]") {
  std::vector<PairedRound> made(6, PairedRound{{10, 10, 10, 900}, {20, 20, 20, 1}});
  CHECK(compare(made, 0.01, "v0")->speedup == Approx(2.0));
}

TEST_CASE("the mean near the median resolves times between two clock ticks", "[statistics]") {
  // One sample of ten on the next tick: the median and the middle half would hide it.
  CHECK(middle_of({5120, 5120, 5120, 5120, 5376, 5120, 5120, 5120, 5120, 5120}) ==
        Approx(5120 + 25.6));
  CHECK(middle_of({5120, 5120, 5120, 5376, 5376, 5120, 5120, 5120, 90'000, 5120}) ==
        Approx(5120 + 2 * 256.0 / 9));
  CHECK(middle_of({7}) == 7);
}

TEST_CASE("a stricter error rate needs more rounds and gives a wider interval", "[statistics]") {
  // 2·0.5^7 = 1.6 % and 2·0.5^8 = 0.8 %: with 1 % eight rounds are the fewest.
  const std::vector<double> seven(7, 1.1), eight(8, 1.1);
  CHECK(compare(rounds(seven), 0.01, "v0", 0.01)->verdict == Verdict::inconclusive);
  CHECK(compare(rounds(eight), 0.01, "v0", 0.01)->verdict == Verdict::faster);

  CHECK(fewest_rounds(0.05) == kLeastPairs);
  CHECK(fewest_rounds(0.01) == 8);
  CHECK(fewest_rounds(0.01 / 3) == 10);  // 2·0.5^10 = 0.2 %

  const auto nine = rounds({1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09});
  // The second of nine misses in 3.9 % of cases, the third in 18 %: in between for 5 %.
  CHECK(compare(nine, 0.0, "v0", 0.05)->ci_low > 1.02);
  CHECK(compare(nine, 0.0, "v0", 0.05)->ci_low < 1.03);
  CHECK(compare(nine, 0.0, "v0", 0.01)->ci_low > 1.01);
  CHECK(compare(nine, 0.0, "v0", 0.01)->ci_low < 1.02);
}

TEST_CASE("several candidates are tested at a stricter rate, the clearest first", "[statistics]") {
  // Six rounds are clear at 5 % (2·0.5^6 = 3.1 %), not at 2.5 %; seven are (1.6 %).
  const Rival six{"six", rounds(std::vector<double>(6, 1.1)), 0.01};
  const Rival seven{"seven", rounds(std::vector<double>(7, 1.1)), 0.01};

  CHECK(compare_all(std::vector{six})->at(0).verdict == Verdict::faster);
  const auto two = compare_all(std::vector{six, six});
  CHECK(two->at(0).verdict == Verdict::inconclusive);
  CHECK(two->at(1).verdict == Verdict::inconclusive);
  // The clear one is settled at 2.5 %; the other is then alone and has all of the 5 %.
  const auto mixed = compare_all(std::vector{six, seven});
  CHECK(mixed->at(0).against == "six");
  CHECK(mixed->at(0).verdict == Verdict::faster);
  CHECK(mixed->at(1).verdict == Verdict::faster);
}

TEST_CASE("a comparison without times is an error", "[statistics]") {
  CHECK_FALSE(compare({}, 0.01, "v0"));
  CHECK_FALSE(compare(std::vector<PairedRound>{{{1}, {}}}, 0.01, "v0"));
  CHECK_FALSE(compare(std::vector<PairedRound>{{{0}, {1}}}, 0.01, "v0"));
}

TEST_CASE("the noise floor is a kernel's ratio to itself, at least half a percent",
          "[statistics]") {
  CHECK(*calibrate_noise(rounds({1, 1.001, 0.999, 1, 1, 1})) == Approx(kLeastNoise));
  // Between the lowest ratio, 0.97, and the next one.
  CHECK(*calibrate_noise(rounds({1, 1.01, 0.97, 1, 1, 1})) > 0.01);
  CHECK(*calibrate_noise(rounds({1, 1.01, 0.97, 1, 1, 1})) < 1 / 0.97 - 1);
  CHECK_FALSE(calibrate_noise(rounds({1, 1, 1})));
}

TEST_CASE("the geometric mean is weighted and refuses impossible values", "[statistics]") {
  const std::vector<double> values{2, 8};
  CHECK(geometric_mean(values, std::vector<double>{1, 1}) == Approx(4));
  CHECK(geometric_mean(values, std::vector<double>{2, 1}) == Approx(std::cbrt(32)));  // 2 * 2 * 8
  CHECK(geometric_mean(std::vector<double>{2, 0}, std::vector<double>{1, 1}) == 0);
}

TEST_CASE("a verdict that neighbors may have caused is inconclusive", "[statistics]") {
  const auto judged = [](Verdict verdict, double low, double high, double candidate, double other) {
    Comparison comparison;
    comparison.verdict = verdict;
    comparison.ci_low = low;
    comparison.ci_high = high;
    comparison.noise_floor = 0.01;
    judge_neighbors(candidate, other, comparison);
    return comparison.verdict;
  };
  // A quarter of the speed, but three quarters and more of its time it had no core.
  CHECK(judged(Verdict::slower, 0.2, 0.25, 0.8, 0) == Verdict::inconclusive);
  CHECK(judged(Verdict::slower, 0.2, 0.25, 0.5, 0) == Verdict::slower);
  CHECK(judged(Verdict::faster, 1.2, 1.3, 0, 0.4) == Verdict::inconclusive);
  // No neighbor makes twelve times of it.
  CHECK(judged(Verdict::faster, 12, 13, 0, 0.4) == Verdict::faster);
  // Both waited alike: their ratio is what it would have been on an idle machine.
  CHECK(judged(Verdict::faster, 1.2, 1.3, 0.4, 0.4) == Verdict::faster);
  CHECK(judged(Verdict::slower, 0.8, 0.9, 0.3, 0.3) == Verdict::slower);
  CHECK(judged(Verdict::faster, 1.2, 1.3, 0, 0) == Verdict::faster);
  CHECK(judged(Verdict::same, 0.995, 1.005, 0.5, 0.5) == Verdict::same);
}
