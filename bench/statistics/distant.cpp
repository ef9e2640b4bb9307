#include "bench/statistics/distant.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "bench/statistics/matches.h"

namespace ratchet::bench {
namespace {

constexpr std::size_t kRounds = 13;  // the first look that can decide for two branches
constexpr double kFastNs = 540'000;

/// What came out of some sessions of one kind.
struct Seen {
  int held = 0;  ///< intervals that hold the truth
  int faster = 0;
  double half_width = 0;
  std::size_t slow_calls = 0;  ///< of one session
};

/// A session of a fast kernel against one that takes `times` times as long, with the least floor.
void add_session(const TimeModel& model, double times, bool sparing, Seen& seen) {
  auto slow = model;
  slow.time_ns = kFastNs * times;
  slow.calls_of_block = 1;  // a call fills a block
  Kernel fast_kernel(model, dice());
  Kernel slow_kernel(slow, dice());
  std::vector<PairedRound> rounds;
  seen.slow_calls = 0;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const bool busy = chance(model.burst_rounds);
    const double at = (static_cast<double>(i) + 0.5) / static_cast<double>(kRounds);
    const auto fast = fast_kernel.round(busy, at);
    auto other = slow_kernel.round(busy, at);
    if (sparing && i > 0) other.front() = {};
    for (const auto& block : other) seen.slow_calls += block.elapsed_ns.size();
    rounds.push_back(std::move(paired(fast, other, 0).rounds.front()));
  }
  const auto compared = compare(rounds, kLeastNoise, "", kErrorRate);
  seen.held += compared->ci_low <= times && times <= compared->ci_high ? 1 : 0;
  seen.faster += compared->verdict == Verdict::faster ? 1 : 0;
  seen.half_width += (compared->ci_high - compared->ci_low) / 2 / times;
}

/// Whether the fastest of six branches, by this share, is one of the two that screen fastest.
bool finds_fastest(const TimeModel& model, double by, bool sparing) {
  constexpr std::size_t kBranches = 6;
  constexpr std::size_t kScreened = 12;
  constexpr std::size_t kPassed = 2;
  auto slow = model;
  slow.time_ns = 50 * kFastNs;
  auto fastest = model;
  fastest.time_ns /= 1 + by;
  Kernel parent(slow, dice());
  std::vector<Kernel> branches;
  for (std::size_t b = 0; b < kBranches; ++b)
    branches.emplace_back(b == 0 ? fastest : model, dice());
  std::vector<std::vector<PairedRound>> rounds(kBranches);
  for (std::size_t i = 0; i < kScreened; ++i) {
    auto other = parent.round(false, 0.5);
    if (sparing && i > 0) other.front() = {};
    for (std::size_t b = 0; b < kBranches; ++b)
      rounds[b].push_back(
          std::move(paired(branches[b].round(false, 0.5), other, 0).rounds.front()));
  }
  std::size_t before = 0;  // of the fastest
  const double own = compare(rounds.front(), kLeastNoise, "")->speedup;
  for (std::size_t b = 1; b < kBranches; ++b)
    if (compare(rounds[b], kLeastNoise, "")->speedup > own) ++before;
  return before < kPassed;
}

}  // namespace

void distant_screenings(int trials) {
  fmt::print(
      "\n### The fastest of six branches is one of the two that screen fastest, beside a parent 50 "
      "times slower\n\nTwelve rounds of two calls; the parent has two, then one.\n\n"
      "| scatter of a call | faster than the others by | found | found |\n|---|---|---|---|\n");
  for (const double scatter : {0.005, 0.02})
    for (const double by : {0.005, 0.01, 0.02}) {
      const TimeModel model{.name = "",
                            .time_ns = kFastNs,
                            .scatter = scatter,
                            .correlation = 0.3,
                            .calls_of_block = 1};
      int whole = 0;
      int spared = 0;
      for (int i = 0; i < trials; ++i) {
        whole += finds_fastest(model, by, false) ? 1 : 0;
        spared += finds_fastest(model, by, true) ? 1 : 0;
      }
      fmt::print("| {} | {} | {} | {} |\n", percent(scatter), percent(by),
                 percent(1.0 * whole / trials), percent(1.0 * spared / trials));
    }
}

void distant_sides(int trials) {
  const std::vector<TimeModel> models{
      {.name = "quiet", .time_ns = kFastNs, .correlation = 0.3},
      {.name = "scatter 2 %, correlation 0.5",
       .time_ns = kFastNs,
       .scatter = 0.02,
       .correlation = 0.5},
      {.name = "busy host: scatter 10 %, correlation 0.3",
       .time_ns = kFastNs,
       .scatter = 0.1,
       .correlation = 0.3,
       .calls_of_block = 3},
      {.name = "bursts: 10 % of rounds 30 % slower",
       .time_ns = kFastNs,
       .correlation = 0.3,
       .burst_rounds = 0.1,
       .burst_slower = 0.3},
      {.name = "drift 3 %", .time_ns = kFastNs, .correlation = 0.3, .drift = 0.03},
      {.name = "interrupts: 5 % of calls, 20 µs",
       .time_ns = kFastNs,
       .correlation = 0.3,
       .outliers = 0.05,
       .outlier_ns = 20'000},
  };
  fmt::print(
      "\n### A distant side with two calls a round, then with one\n\n{} rounds at 5 %. How often "
      "the interval holds the truth, its half-width, and how often the fast side is called "
      "faster.\n\n"
      "| times | factor | calls | holds | half-width | faster | calls | holds | half-width | "
      "faster "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n",
      kRounds);
  for (const auto& model : models)
    for (const double times : {4.0, 50.0}) {
      Seen whole;
      Seen spared;
      for (int i = 0; i < trials; ++i) {
        add_session(model, times, false, whole);
        add_session(model, times, true, spared);
      }
      const auto cells = [trials](const Seen& seen) {
        return fmt::format("{} | {} | {:.2f} % | {}", seen.slow_calls,
                           percent(1.0 * seen.held / trials), 100 * seen.half_width / trials,
                           percent(1.0 * seen.faster / trials));
      };
      fmt::print("| {} | {:.0f}× | {} | {} |\n", model.name, times, cells(whole), cells(spared));
    }
}

}  // namespace ratchet::bench
