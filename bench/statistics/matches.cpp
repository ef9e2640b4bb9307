#include "bench/statistics/matches.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "bench/statistics/former.h"

namespace ratchet::bench {

std::mt19937_64& dice() {
  static std::mt19937_64 random;
  return random;
}

double normal() {
  return std::normal_distribution<double>()(dice());
}

bool chance(double share) {
  return std::uniform_real_distribution<double>()(dice()) < share;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

Kernel started(TimeModel model, double times, double between) {
  model.time_ns *= times * std::exp(between * normal());
  return {std::move(model), dice()};
}

Match even(TimeModel model, double between, double floor) {
  return {.candidate = model, .other = model, .between_processes = between, .floor = floor};
}

Match faster_by(Match match, double share) {
  match.candidate.time_ns /= 1 + share;
  return match;
}

Ended play(const Match& match, bool former) {
  Kernel candidate = started(match.candidate, 1, match.between_processes);
  Kernel other(match.other, dice());
  std::vector<PairedRound> rounds;
  const std::size_t last = former ? kFormerLooks.back() : match.most_rounds;
  Ended ended;
  while (rounds.size() < last) {
    const bool busy = chance(match.candidate.burst_rounds);
    const double at = static_cast<double>(rounds.size()) / static_cast<double>(kFormerLooks.back());
    const auto a = candidate.round(busy, at);
    const auto b = other.round(busy, at);
    rounds.push_back(std::move(paired(a, b, 0).rounds.front()));
    const auto look = look_after(rounds.size());
    if (look.rounds != rounds.size()) continue;
    if (former) {
      ended.verdict = former_verdict(rounds, match.floor);
    } else {
      ended.comparison = *compare(rounds, match.floor, "", kErrorRate * look.share);
      ended.verdict = ended.comparison.verdict;
    }
    ended.rounds = rounds.size();
    if (ended.verdict != Verdict::inconclusive) break;
  }
  return ended;
}

}  // namespace ratchet::bench
