#include "bench/statistics/searches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/statistics/matches.h"
#include "kernels/timing/looks.h"
#include "server/runs/rules/attribution.h"
#include "server/runs/rules/branch_choice.h"

namespace ratchet::bench {
namespace {

/// Rounds of several kernels, each against the first.
class Race {
 public:
  Race(const TimeModel& model, const std::vector<double>& times, double between = 0.001) {
    for (const double one : times) kernels_.push_back(started(model, one, between));
    rivals_.resize(times.size() - 1);
    for (auto& rival : rivals_) rival.noise_floor = kLeastNoise;
  }

  void round() {
    const auto first = kernels_.front().round(false, 0.5);
    for (std::size_t i = 0; i < rivals_.size(); ++i)
      rivals_[i].rounds.push_back(
          std::move(paired(kernels_[i + 1].round(false, 0.5), first, 0).rounds.front()));
  }

  /// Goes on until all verdicts are in, as a race does.
  std::vector<Comparison> decide() {
    const double of_one = kErrorRate / static_cast<double>(rivals_.size());
    for (std::size_t rounds = 1;; ++rounds) {
      round();
      const auto look = look_after(rounds, of_one);
      if (look.rounds != rounds && rounds < kMostRounds) continue;
      auto all = *compare_all(rivals_, kErrorRate * look.share);
      if (rounds >= kMostRounds || std::ranges::none_of(all, [](const Comparison& one) {
            return one.verdict == Verdict::inconclusive;
          }))
        return all;
    }
  }

  /// Of each round, a rival's time ÷ the first one's.
  [[nodiscard]] std::vector<double> ratios(std::size_t rival) const {
    std::vector<double> all;
    for (const auto& one : rivals_[rival].rounds)
      all.push_back(middle_of(one.candidate_ns) / middle_of(one.other_ns));
    return all;
  }

  [[nodiscard]] double speedup(std::size_t rival) const {
    return compare(rivals_[rival].rounds, kLeastNoise, "")->speedup;
  }

 private:
  std::vector<Kernel> kernels_;
  std::vector<Rival> rivals_;
};

// ---------------------------------------------------------------------------------------- sweeps

// As explore_branches does it.
constexpr std::size_t kHeat = 7;
constexpr int kHeatSamples = 12;

/// Speed-ups of a heat beside the incumbent, two calls a round at least.
std::vector<double> heat(TimeModel model, const std::vector<double>& times, int samples) {
  model.calls_of_block = static_cast<std::size_t>(std::max(1, samples / 20));
  std::vector<double> all{1};
  all.insert(all.end(), times.begin(), times.end());
  Race race(model, all);
  const int of_round = 2 * static_cast<int>(model.calls_of_block);
  for (int taken = 0; taken < samples; taken += of_round) race.round();
  std::vector<double> speedups;
  for (std::size_t i = 0; i < times.size(); ++i) speedups.push_back(race.speedup(i));
  return speedups;
}

/// The times that are left: the two that screened fastest last.
std::vector<double> halved(const TimeModel& model, std::vector<double> left) {
  for (int samples = kHeatSamples;; samples *= 2) {
    std::vector<std::pair<double, double>> ranked;  // speed-up seen, time
    for (std::size_t from = 0; from < left.size(); from += kHeat) {
      const std::vector<double> some(
          left.begin() + static_cast<std::ptrdiff_t>(from),
          left.begin() + static_cast<std::ptrdiff_t>(std::min(left.size(), from + kHeat)));
      const auto seen = heat(model, some, samples);
      for (std::size_t i = 0; i < some.size(); ++i) ranked.emplace_back(seen[i], some[i]);
    }
    std::ranges::stable_sort(ranked, std::greater<>(), &std::pair<double, double>::first);
    const bool last = left.size() <= kFinalists;
    left.clear();
    for (const auto& [seen, time] : ranked) left.push_back(time);
    if (last) return left;
    left.resize(std::max(kFinalists, left.size() / 2));
  }
}

/// The time of the champion; empty if nothing is faster beyond the noise.
std::optional<double> champion(const TimeModel& model, const std::vector<double>& last) {
  std::vector<double> all{1};
  all.insert(all.end(), last.begin(), last.end());
  const auto confirmed = Race(model, all).decide();
  BranchesFact fact;
  for (std::size_t i = 0; i < last.size(); ++i) {
    BranchResult branch;
    branch.name = std::to_string(i);
    branch.candidate.build.ok = true;
    branch.correctness.emplace().passed = true;
    branch.confirmation = confirmed[i];
    fact.branches.push_back(std::move(branch));
  }
  decide(fact);
  return fact.champion ? std::optional(last[static_cast<std::size_t>(std::stoi(*fact.champion))])
                       : std::nullopt;
}

// ------------------------------------------------------------------------------------- ablations

/// Methods that save these shares of the whole kernel's time; all of them together save `more`
/// beyond their sum.
struct Parts {
  const char* name;
  std::vector<double> saves;
  double more = 0;

  /// The time without the methods of this mask, in whole kernels.
  [[nodiscard]] double time_without(unsigned mask) const {
    double time = 1;
    for (std::size_t i = 0; i < saves.size(); ++i)
      if ((mask >> i & 1U) != 0) time += saves[i];
    return mask + 1 == 1U << saves.size() ? time + more : time;
  }
};

struct Held {
  int alone = 0, alones = 0, interaction = 0;
  double alone_width = 0, interaction_width = 0;
};

/// Adds what the attribution of these builds holds of the truth.
void add_held(const TimeModel& model, const Parts& parts, AblationFact fact, Held& held) {
  const auto count = parts.saves.size();
  const unsigned every = (1U << count) - 1;
  std::vector<std::string> methods;
  for (std::size_t i = 0; i < count; ++i) methods.push_back(fmt::format("m{}", i));
  attribute(fact, methods, {});
  const auto within = [&](double truth, double low, double high) {
    return low <= truth * model.time_ns && truth * model.time_ns <= high;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto& one = fact.attribution[i];
    const double truth = parts.time_without(every) - parts.time_without(every & ~(1U << i));
    held.alone += within(truth, *one.alone_low_ns, *one.alone_high_ns) ? 1 : 0;
    ++held.alones;
    held.alone_width += (*one.alone_high_ns - *one.alone_low_ns) / 2 / model.time_ns;
  }
  held.interaction +=
      within(parts.more, *fact.interaction_low_ns, *fact.interaction_high_ns) ? 1 : 0;
  held.interaction_width +=
      (*fact.interaction_high_ns - *fact.interaction_low_ns) / 2 / model.time_ns;
}

/// One ablation, by the intervals of its builds (before) and by its rounds (now).
void add_ablation(const TimeModel& model, const Parts& parts, Held& before, Held& now) {
  const auto count = parts.saves.size();
  const unsigned every = (1U << count) - 1;
  std::vector<unsigned> masks;
  const auto add = [&](unsigned mask) {
    if (mask != 0 && std::ranges::find(masks, mask) == masks.end()) masks.push_back(mask);
  };
  for (std::size_t i = 0; i < count; ++i) add(1U << i);
  for (std::size_t i = 0; i < count; ++i) add(every & ~(1U << i));
  add(every);
  std::vector<double> times{1};
  for (const auto mask : masks) times.push_back(parts.time_without(mask));
  Race race(model, times, 0);
  const auto compared = race.decide();
  AblationFact fact;
  fact.whole.median = {model.time_ns};
  for (std::size_t b = 0; b < masks.size(); ++b) {
    AblatedBuild build;
    for (std::size_t i = 0; i < count; ++i)
      if ((masks[b] >> i & 1U) != 0) build.without.push_back(fmt::format("m{}", i));
    build.build.ok = true;
    build.correct = true;
    build.comparison = inverted(compared[b], "whole");
    fact.builds.push_back(std::move(build));
  }
  add_held(model, parts, fact, before);
  for (std::size_t b = 0; b < masks.size(); ++b) fact.builds[b].rounds = race.ratios(b);
  add_held(model, parts, std::move(fact), now);
}

}  // namespace

void sweeps(int trials) {
  fmt::print(
      "\n### Sweeps by successive halving\n\nTimes are those of the incumbent, divided. A loss: by "
      "how much the champion, or the incumbent where there is none, is slower than the best.\n\n"
      "| points | which | scatter of a call | best among the last two | best is champion | a "
      "champion that is not faster | loss, mean |\n|---|---|---|---|---|---|---|\n");
  const auto line = [trials](const char* name, std::size_t points, double scatter, auto time_of) {
    const TimeModel model{.name = "", .scatter = scatter, .correlation = 0.3};
    std::vector<double> times;
    for (std::size_t i = 0; i < points; ++i) times.push_back(time_of(i));
    const double best = std::ranges::min(times);
    int kept = 0, found = 0, wrong = 0;
    double loss = 0;
    for (int t = 0; t < trials; ++t) {
      std::ranges::shuffle(times, dice());
      const auto last = halved(model, times);
      const auto winner = champion(model, last);
      kept += std::ranges::find(last, best) != last.end() ? 1 : 0;
      found += winner == best ? 1 : 0;
      wrong += winner && *winner >= 1 ? 1 : 0;
      loss += winner.value_or(1) / std::min(best, 1.0) - 1;
    }
    const auto share = [trials](int count) { return percent(1.0 * count / trials); };
    const bool one_best = best < 1;
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.2f} % |\n", points, name, percent(scatter),
               one_best ? share(kept) : "–", one_best ? share(found) : "–", share(wrong),
               100 * loss / trials);
  };
  for (const double scatter : {0.005, 0.02}) {
    line("all as fast as the incumbent", 64, scatter, [](std::size_t) { return 1.0; });
    line("one 2 % faster, the others as fast", 64, scatter,
         [](std::size_t i) { return i == 0 ? 1 / 1.02 : 1.0; });
    line("one 5 % faster, the others as fast", 64, scatter,
         [](std::size_t i) { return i == 0 ? 1 / 1.05 : 1.0; });
    line("from 10 % faster to 20 % slower, evenly", 64, scatter,
         [](std::size_t i) { return 0.9 + 0.3 * static_cast<double>(i) / 63; });
    line("from 10 % faster to 20 % slower, evenly", 16, scatter,
         [](std::size_t i) { return 0.9 + 0.3 * static_cast<double>(i) / 15; });
  }
}

void ablations(int trials) {
  const std::vector<TimeModel> models{
      {.name = "quiet", .correlation = 0.3},
      {.name = "scatter 2 %", .scatter = 0.02, .correlation = 0.3},
      {.name = "busy host: scatter 10 %, 3 calls a block",
       .scatter = 0.1,
       .correlation = 0.3,
       .calls_of_block = 3},
  };
  fmt::print(
      "\n### What methods contribute alone, and their interaction\n\nHow often an interval holds "
      "the truth, and its half-width as a share of the whole kernel's time: from the intervals of "
      "the builds (before), and from differences within rounds (now).\n\n| times | methods | alone "
      "| half-width | interaction | half-width | alone | half-width | interaction | half-width "
      "|\n|---|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& model : models)
    for (const auto& parts :
         {Parts{"2 that save 5 and 2 %", {0.05, 0.02}},
          Parts{"3 that save 5, 2 and 0 %, and 1 % more together", {0.05, 0.02, 0}, 0.01},
          Parts{"6 that save 10, 5, 5, 2, 0 and 0 %", {0.1, 0.05, 0.05, 0.02, 0, 0}}}) {
      Held before, now;
      for (int t = 0; t < trials; ++t) add_ablation(model, parts, before, now);
      const auto cells = [trials](const Held& held) {
        return fmt::format("{} | {:.2f} % | {} | {:.2f} %", percent(1.0 * held.alone / held.alones),
                           100 * held.alone_width / held.alones,
                           percent(1.0 * held.interaction / trials),
                           100 * held.interaction_width / trials);
      };
      fmt::print("| {} | {} | {} | {} |\n", model.name, parts.name, cells(before), cells(now));
    }
}

}  // namespace ratchet::bench
