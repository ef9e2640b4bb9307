#include "kernels/worker/compare_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ratchet::worker {
namespace {

/// The wrong elements that still hold what they were sent with, if they are more than chance makes.
std::int64_t unwritten_of(const Counts& counts, DType type) {
  constexpr double kDeviations = 6;
  const double chance =
      std::ldexp(static_cast<double>(counts.mismatches), static_cast<int>(-8 * size_of(type)));
  const bool more =
      static_cast<double>(counts.unwritten) > chance + kDeviations * std::sqrt(chance);
  return more ? counts.unwritten : 0;
}

}  // namespace

double scaled_atol(const wire::Tolerance& tolerance, double sum_of_squares, std::int64_t finite) {
  if (tolerance.exact || tolerance.scale == wire::AtolScale::absolute) return tolerance.atol;
  const auto rms =
      static_cast<float>(finite ? std::sqrt(sum_of_squares / static_cast<double>(finite)) : 0.0);
  const double scale = tolerance.scale == wire::AtolScale::shrink ? std::min(1.0F, rms) : rms;
  return tolerance.atol * std::max(scale, tolerance.least_scale);
}

double least_error(const wire::Tolerance& tolerance, DType type) {
  if (tolerance.exact || tolerance.atol == 0) return 0;
  switch (type) {
    case DType::f64:
      return 0x1p-1022;
    case DType::f32:
    case DType::bf16:
      return 0x1p-126;
    // Kernels compute in float32: one step of the type's own subnormal numbers.
    case DType::f16:
      return 0x1p-24;
    case DType::f8_e4m3:
      return 0x1p-9;
    case DType::f8_e5m2:
      return 0x1p-16;
    default:
      return 0;
  }
}

void add_output(const wire::Buffer& buffer, const Counts& counts, double matched_ratio,
                wire::Comparison& verdict) {
  const auto elements = static_cast<double>(buffer.elements);
  OutputError error;
  error.tensor = buffer.name;
  error.max_abs = counts.max_abs;
  error.max_rel = counts.max_rel;
  error.mean_abs = counts.finite ? counts.sum_abs / static_cast<double>(counts.finite) : 0;
  error.mismatches = counts.mismatches;
  error.elements = buffer.elements;
  error.first_bad = counts.first_bad;
  if (buffer.elements > 0) error.matched = 1 - static_cast<double>(counts.mismatches) / elements;
  const bool enough = static_cast<double>(counts.mismatches) <= (1 - matched_ratio) * elements;
  const auto unwritten = unwritten_of(counts, buffer.dtype);
  const bool right = counts.mismatches == 0 || (enough && unwritten == 0 && counts.unexpected == 0);
  verdict.outputs.push_back(std::move(error));
  verdict.states.push_back({unwritten, counts.unexpected, right});
}

bool all_right(const wire::Comparison& verdict) {
  return verdict.guards_intact && verdict.inputs_intact && !verdict.outputs.empty() &&
         std::ranges::all_of(verdict.states, &wire::OutputState::right);
}

}  // namespace ratchet::worker
