#include "server/facts/order_statistics.h"

#include <algorithm>
#include <cmath>

namespace ratchet {
namespace {

/// P(Bin(n, 1/2) <= k).
double binomial_tail(std::size_t n, std::size_t k) {
  double log_term = std::log(0.5) * static_cast<double>(n);
  double sum = 0;
  for (std::size_t i = 0; i <= k; ++i) {
    sum += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - i)) - std::log(static_cast<double>(i + 1));
  }
  return sum;
}

}  // namespace

double sorted_quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

std::optional<std::size_t> interval_index(std::size_t n, double error_rate) {
  // In logarithms, because 0.5^n underflows beyond n = 1074.
  const double log_half = std::log(0.5) * static_cast<double>(n);
  double log_term = log_half;  // of P(Bin = 0)
  double below = 0;            // P(Bin <= k-1)
  std::size_t k = 0;
  while (k < n / 2) {
    below += std::exp(log_term);
    if (2 * below > error_rate) break;
    ++k;
    log_term += std::log(static_cast<double>(n - k + 1)) - std::log(static_cast<double>(k));
  }
  if (k == 0) return std::nullopt;
  return k - 1;
}

std::size_t fewest_rounds(double error_rate) {
  std::size_t rounds = 1;
  while (!interval_index(rounds, error_rate)) ++rounds;
  return rounds;
}

MedianInterval median_interval(const std::vector<double>& sorted, double error_rate) {
  const auto n = sorted.size();
  const auto index = interval_index(n, error_rate);
  const auto k = index.value_or(0);
  if (!index || k + 1 >= n / 2) return {sorted[k], sorted[n - 1 - k], index.has_value()};
  const double outer = 2 * binomial_tail(n, k);
  const double inner = 2 * binomial_tail(n, k + 1);
  const double share = (error_rate - outer) / (inner - outer);
  const auto depth = static_cast<double>(k + 1);
  const double size = static_cast<double>(n);
  const double part = (size - depth) * share / (depth + (size - 2 * depth) * share);
  return {sorted[k] + part * (sorted[k + 1] - sorted[k]),
          sorted[n - 1 - k] - part * (sorted[n - 1 - k] - sorted[n - 2 - k]), true};
}

}  // namespace ratchet
