#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/timing/statistics.h"

namespace ratchet::bench {

// The rules before they were held against simulations, to show what changed.

struct FormerInterval {
  double low = 0, high = 0;
  bool real = false;
};

/// Order statistics of the values, taken as independent, without interpolation.
[[nodiscard]] FormerInterval former_interval(std::vector<double> values, double error_rate);

/// After how many rounds an interval was looked at. All looks had the same part of the error rate.
inline constexpr std::array<std::size_t, 5> kFormerLooks{8, 13, 21, 34, 55};

/// At one look: medians only, `same` within the floor.
[[nodiscard]] Verdict former_verdict(std::span<const PairedRound> rounds, double floor);

/// How a session of these rounds ended.
struct FormerEnd {
  Verdict verdict = Verdict::inconclusive;
  std::size_t rounds = 0;  ///< that it took
};
[[nodiscard]] FormerEnd former_session(std::span<const PairedRound> rounds, double floor);

inline constexpr double kFormerSigmas = 2.6;

}  // namespace ratchet::bench
