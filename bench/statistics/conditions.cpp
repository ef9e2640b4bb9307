#include "bench/statistics/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/statistics/matches.h"
#include "kernels/lab/over_values.h"
#include "kernels/timing/looks.h"
#include "kernels/timing/timing_session.h"

namespace ratchet::bench {
namespace {

// -------------------------------------------------------------------------------------- throttling

/// Verdicts of one session: by the dropping of samples alone, and with what is judged besides.
struct Limited {
  Verdict dropped = Verdict::inconclusive, judged = Verdict::inconclusive;
};

Limited limited_session(const Match& match) {
  Kernel candidate = started(match.candidate, 1, match.between_processes);
  Kernel other(match.other, dice());
  SessionRecord session;
  session.contestants = {{"candidate", {}, {}}, {"other", {}, {}}};
  session.discard_first = 0;
  session.noise_floor = match.floor;
  Limited ended;
  for (std::size_t rounds = 1; rounds <= match.most_rounds; ++rounds) {
    const bool busy = chance(match.candidate.burst_rounds);
    for (auto* one : {&candidate, &other})
      for (auto& block : one->round(busy, 0.5))
        session.contestants[one == &candidate ? 0 : 1].blocks.push_back(std::move(block));
    const auto look = look_after(rounds);
    if (look.rounds != rounds && rounds < match.most_rounds) continue;
    session.error_rate = kErrorRate * look.share;
    const auto series = paired(session.contestants[0].blocks, session.contestants[1].blocks, 0);
    if (series.rounds.empty()) continue;
    const auto plain = compare(series.rounds, match.floor, "", session.error_rate);
    const bool lost = series.lost > series.rounds.size();
    ended = {lost ? Verdict::inconclusive : plain->verdict, comparison_of(session, 1)->verdict};
    // As a session does: it asks whether the rounds decide.
    if (plain->verdict != Verdict::inconclusive) break;
  }
  return ended;
}

// ------------------------------------------------------------------------------------------ values

constexpr std::size_t kDistributions = 5;
constexpr std::size_t kValueRounds = 10;

/// How many times as long each side takes on each distribution.
struct OnValues {
  const char* name;
  double candidate = 1;         ///< on all of them, and on normal values
  double candidate_on_one = 1;  ///< besides, on one of them
  double parent_on_one = 1;
};

struct Judged {
  bool ranged = false;
  Verdict verdict = Verdict::inconclusive;
};

/// What memory adds to a session, beside the process.
double placed(double process) {
  return process * std::exp(0.0007 * normal());
}

Judged judged_over_values(const TimeModel& model, const OnValues& on) {
  // A candidate's process, another of it, and its parent's.
  std::array<double, 3> process{};
  for (auto& one : process) one = std::exp(0.0007 * normal());
  const auto session = [&](double candidate, double parent) {
    auto match = even(model, 0);
    match.candidate.time_ns *= placed(process[0]) * candidate;
    match.other.time_ns *= placed(process[2]) * parent;
    return play(match, false).comparison;
  };
  const auto normal_values = session(on.candidate, 1);
  auto brief = model;
  brief.calls_of_block = 1;
  std::vector<ValueTime> all;
  for (std::size_t d = 0; d < kDistributions; ++d) {
    const double more = d == 0 ? on.candidate_on_one : 1;
    std::vector<Kernel> kernels;
    for (const double times :
         {placed(process[0]) * on.candidate * more, placed(process[1]) * on.candidate,
          placed(process[2]) * (d == 0 ? on.parent_on_one : 1)}) {
      auto one = brief;
      one.time_ns *= times;
      kernels.emplace_back(one, dice());
    }
    std::array<std::vector<PairedRound>, 2> rounds;
    for (std::size_t r = 0; r < kValueRounds; ++r) {
      const auto own = kernels[0].round(false, 0.5);
      for (std::size_t other = 0; other < 2; ++other)
        rounds[other].push_back(
            std::move(paired(own, kernels[other + 1].round(false, 0.5), 0).rounds.front()));
    }
    const double rate = kErrorRate / static_cast<double>(kDistributions);
    ValueTime one;
    one.values = fmt::format("d{}", d);
    one.against_normal = *compare(rounds[0], kLeastNoise, "normal", rate);
    one.against_parent = *compare(rounds[1], kLeastNoise, "parent", rate);
    all.push_back(std::move(one));
  }
  const bool ranged =
      std::ranges::any_of(all, [&](const ValueTime& one) { return notable(one, normal_values); });
  if (!ranged) return {false, normal_values.verdict};
  const auto range = range_of(all, model.time_ns, normal_values);
  if (range.judged_on == kNormalValues) return {true, normal_values.verdict};
  const bool the_one = range.judged_on == "d0";
  return {true, session(on.candidate * (the_one ? on.candidate_on_one : 1),
                        the_one ? on.parent_on_one : 1)
                    .verdict};
}

}  // namespace

void throttled_sessions(int trials) {
  fmt::print(
      "\n### A lower clock in a part of the blocks\n\nSamples below 75 % of the highest clock are "
      "dropped. Faster and slower by that alone, then with the means of all samples.\n\n| times "
      "| mean speed-up, all samples | faster | slower | faster | slower | undecided "
      "|\n|---|---|---|---|---|---|---|\n");
  const auto line = [trials](const char* name, double gain, double own, double both, double at) {
    auto match =
        faster_by(even({.correlation = 0.3, .burst_rounds = both, .throttled_at = at}), gain);
    match.candidate.throttled = own;
    std::array<int, 2> faster{}, slower{};
    int open = 0;
    for (int i = 0; i < trials; ++i) {
      const auto ended = limited_session(match);
      const std::array<Verdict, 2> both_ways{ended.dropped, ended.judged};
      for (std::size_t v = 0; v < 2; ++v) {
        faster[v] += both_ways[v] == Verdict::faster ? 1 : 0;
        slower[v] += both_ways[v] == Verdict::slower ? 1 : 0;
      }
      open += ended.judged == Verdict::inconclusive ? 1 : 0;
    }
    const auto mean = [&](double share) { return 1 - share + share / at; };
    const double truth = (1 + gain) * mean(both) / mean(both + (1 - both) * own);
    const auto share = [&](int count) { return percent(1.0 * count / trials); };
    fmt::print("| {} | {:.3f} | {} | {} | {} | {} | {} |\n", name, truth, share(faster[0]),
               share(slower[0]), share(faster[1]), share(slower[1]), share(open));
  };
  line("equal, both at 70 % in 20 % of rounds", 0, 0, 0.2, 0.7);
  line("equal, both at 85 % in 20 % of rounds", 0, 0, 0.2, 0.85);
  line("5 % faster, both at 70 % in 30 % of rounds", 0.05, 0, 0.3, 0.7);
  line("5 % faster, both at 85 % in 30 % of rounds", 0.05, 0, 0.3, 0.85);
  line("10 % faster, but at 70 % in 40 % of its own blocks", 0.1, 0.4, 0, 0.7);
  line("10 % faster, but at 70 % in 60 % of its own blocks", 0.1, 0.6, 0, 0.7);
  line("10 % faster, but at 85 % in 60 % of its own blocks", 0.1, 0.6, 0, 0.85);
  line("30 % faster, but at 70 % in 5 % of its own blocks", 0.3, 0.05, 0, 0.7);
}

void worst_values(int trials) {
  fmt::print(
      "\n### The verdict over five distributions besides normal values\n\n| times | scatter of a "
      "call | range told | faster | slower | same | undecided |\n|---|---|---|---|---|---|---|\n");
  for (const double scatter : {0.005, 0.02})
    for (const auto& on :
         {OnValues{"equal on all"}, OnValues{"5 % faster on all", 1 / 1.05},
          OnValues{"equal, and both take twice as long on one", 1, 2, 2},
          OnValues{"5 % faster on all, and both take twice as long on one", 1 / 1.05, 2, 2},
          OnValues{"10 % faster, but 20 % slower on one", 1 / 1.1, 1.1 * 1.2}}) {
      int ranged = 0;
      std::array<int, 7> of{};
      for (int i = 0; i < trials; ++i) {
        const auto one = judged_over_values({.scatter = scatter, .correlation = 0.3}, on);
        ranged += one.ranged ? 1 : 0;
        ++of.at(static_cast<std::size_t>(one.verdict));
      }
      const auto share = [&](Verdict one) {
        return percent(1.0 * of.at(static_cast<std::size_t>(one)) / trials);
      };
      fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", on.name, percent(scatter),
                 percent(1.0 * ranged / trials), share(Verdict::faster), share(Verdict::slower),
                 share(Verdict::same), share(Verdict::inconclusive));
    }
}

}  // namespace ratchet::bench
