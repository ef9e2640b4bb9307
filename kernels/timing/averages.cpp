// Averages, and the tail of the t-distribution.

#include "kernels/timing/statistics.h"

#include <cmath>
#include <numbers>

namespace ratchet {

double student_t(int freedom, double tail) {
  // The probability between -t and t, as a finite sum for whole degrees of freedom.
  const auto within = [freedom](double t) {
    const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
    const double cosine = std::cos(angle);
    const bool odd = freedom % 2 == 1;
    double term = odd ? cosine : 1;
    double sum = freedom > 1 ? term : 0;
    for (int i = odd ? 3 : 2; i < freedom; i += 2) {
      term *= cosine * cosine * (i - 1) / i;
      sum += term;
    }
    if (odd) return 2 / std::numbers::pi * (angle + std::sin(angle) * sum);
    return std::sin(angle) * sum;
  };
  double low = 0;
  double high = 1;
  while (within(high) < 1 - 2 * tail && high < 1e9) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (within(middle) < 1 - 2 * tail ? low : high) = middle;
  }
  return high;
}

double geometric_mean(std::span<const double> values, std::span<const double> weights) {
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = i < weights.size() ? weights[i] : 1;
    if (share <= 0) continue;
    if (!(values[i] > 0)) return 0;
    sum += share * std::log(values[i]);
    weight += share;
  }
  return weight > 0 ? std::exp(sum / weight) : 0;
}

}  // namespace ratchet
