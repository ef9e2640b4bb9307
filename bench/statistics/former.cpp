#include "bench/statistics/former.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ratchet::bench {

FormerInterval former_interval(std::vector<double> values, double error_rate) {
  std::ranges::sort(values);
  const auto n = values.size();
  double log_term = std::log(0.5) * static_cast<double>(n);
  double below = 0;
  std::size_t k = 0;
  while (k < n / 2) {
    below += std::exp(log_term);
    if (2 * below > error_rate) break;
    ++k;
    log_term += std::log(static_cast<double>(n - k + 1)) - std::log(static_cast<double>(k));
  }
  if (k == 0) return {values.front(), values.back(), false};
  return {values[k - 1], values[n - k], true};
}

Verdict former_verdict(std::span<const PairedRound> rounds, double floor, double error_rate) {
  std::vector<double> ratios;
  for (const auto& round : rounds)
    ratios.push_back(middle_of(round.other_ns) / middle_of(round.candidate_ns));
  const auto interval = former_interval(std::move(ratios), error_rate);
  if (!interval.real) return Verdict::inconclusive;
  if (interval.low > 1 + floor) return Verdict::faster;
  if (interval.high < 1 / (1 + floor)) return Verdict::slower;
  const bool inside =
      floor <= kMostNoise && interval.low >= 1 / (1 + floor) && interval.high <= 1 + floor;
  return inside ? Verdict::same : Verdict::inconclusive;
}

FormerEnd former_session(std::span<const PairedRound> rounds, double floor) {
  constexpr std::array<std::size_t, 5> kLooks{8, 13, 21, 34, 55};
  const double rate = kErrorRate / static_cast<double>(kLooks.size());
  FormerEnd end;
  for (const auto look : kLooks) {
    end.rounds = std::min(look, rounds.size());
    end.verdict = former_verdict(rounds.first(end.rounds), floor, rate);
    if (end.verdict != Verdict::inconclusive || look >= rounds.size()) break;
  }
  return end;
}

}  // namespace ratchet::bench
