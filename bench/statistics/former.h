#pragma once

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

/// Medians only, five looks, `same` within the floor.
[[nodiscard]] Verdict former_verdict(std::span<const PairedRound> rounds, double floor,
                                     double error_rate);

inline constexpr double kFormerSigmas = 2.6;

}  // namespace ratchet::bench
