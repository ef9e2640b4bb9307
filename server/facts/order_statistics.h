#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ratchet {

// Intervals of a median that assume no distribution: between order statistics, as in a sign test.
// Pure and thread-safe.

/// How often an interval may miss the true value.
inline constexpr double kErrorRate = 0.05;

/// Linearly interpolated; `sorted` is not empty, `share` 0..1.
[[nodiscard]] double sorted_quantile(const std::vector<double>& sorted, double share);

/// 0-based index k of the order statistics [k, n-1-k] that miss the median of n values with
/// probability `error_rate` at most: the largest k with 2·P(Bin(n, 1/2) <= k-1) <= error_rate.
/// Empty if even min … max does not.
[[nodiscard]] std::optional<std::size_t> interval_index(std::size_t n, double error_rate);

/// The fewest rounds with which `compare` can decide at this error rate.
[[nodiscard]] std::size_t fewest_rounds(double error_rate);

struct MedianInterval {
  double low = 0;
  double high = 0;
  bool real = false;  ///< false: min … max of too few values
};

/// Between the order statistics that miss the median less and more often than `error_rate`
/// (Hettmansperger and Sheather 1986): few values would else waste much of the rate. Not empty.
[[nodiscard]] MedianInterval median_interval(const std::vector<double>& sorted,
                                             double error_rate = kErrorRate);

}  // namespace ratchet
