#include "bench/statistics/former.h"

#include <algorithm>

namespace ratchet::bench {

FormerInterval former_interval(std::vector<double> values, double error_rate) {
  std::ranges::sort(values);
  const auto index = interval_index(values.size(), error_rate);
  const auto k = index.value_or(0);
  return {values[k], values[values.size() - 1 - k], index.has_value()};
}

Verdict former_verdict(std::span<const PairedRound> rounds, double floor) {
  std::vector<double> ratios;
  for (const auto& round : rounds)
    ratios.push_back(middle_of(round.other_ns) / middle_of(round.candidate_ns));
  const auto interval = former_interval(std::move(ratios), kErrorRate / kFormerLooks.size());
  if (!interval.real) return Verdict::inconclusive;
  if (interval.low > 1 + floor) return Verdict::faster;
  if (interval.high < 1 / (1 + floor)) return Verdict::slower;
  const bool inside =
      floor <= kMostNoise && interval.low >= 1 / (1 + floor) && interval.high <= 1 + floor;
  return inside ? Verdict::same : Verdict::inconclusive;
}

FormerEnd former_session(std::span<const PairedRound> rounds, double floor) {
  FormerEnd end;
  for (const auto look : kFormerLooks) {
    end.rounds = std::min(look, rounds.size());
    end.verdict = former_verdict(rounds.first(end.rounds), floor);
    if (end.verdict != Verdict::inconclusive || look >= rounds.size()) break;
  }
  return end;
}

}  // namespace ratchet::bench
