#include "server/core/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace ratchet {
namespace {

/// Rounded to three significant digits, so that 999.6 µs becomes 1 ms.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);
  return std::round(value / unit) * unit;
}

}  // namespace

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (!(size >= 999.5 && size < 1e15)) return fmt::format("{:.3g}", value);
  if (size < 999'500) return fmt::format("{:.0f}", rounded(value));
  const double exponent = std::floor(std::log10(std::abs(rounded(value))));
  return fmt::format("{:.3g}e{:.0f}", value / std::pow(10, exponent), exponent);
}

std::string time_text(double ns) {
  const double shown = rounded(ns);
  if (shown < 1e3) return fmt::format("{:.3g} ns", ns);
  if (shown < 1e6) return fmt::format("{:.3g} µs", shown / 1e3);
  if (shown < 1e9) return fmt::format("{:.3g} ms", shown / 1e6);
  return fmt::format("{} s", three_digits(ns / 1e9));
}

}  // namespace ratchet
