#include "kernels/worker/compare_rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "server/facts/unit_roundoff.h"

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

template <class Value>
double median_of(std::vector<Value> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::int64_t scaled_row(const wire::Buffer& buffer) {
  constexpr std::int64_t kShortRow = 16;
  if (buffer.shape.size() < 2) return 0;
  const auto row = buffer.shape.back();
  return row < kShortRow || buffer.elements < 2 * row ? 0 : row;
}

void scale_rows(std::vector<float>& rows, std::int64_t row, double scale) {
  constexpr std::int64_t kLongRow = 64;
  constexpr double kHeavy = 16;
  std::vector<float> written;
  std::ranges::copy_if(rows, std::back_inserter(written), [](float rms) { return rms > 0; });
  const double typical = median_of(std::move(written));
  const bool heavy = row >= kLongRow && *std::ranges::max_element(rows) > kHeavy * typical;
  const auto least = static_cast<float>(heavy ? typical : scale);
  for (auto& rms : rows) rms = std::max(rms, least);
}

std::int64_t scale_sample_step(std::int64_t elements) {
  constexpr std::int64_t kSample = 4096;
  return std::max<std::int64_t>(1, elements / kSample) | 1;
}

double typical_magnitude(std::vector<double> sample) {
  for (auto& value : sample) value = std::fabs(value);
  std::erase_if(sample, [](double value) { return !std::isfinite(value) || value == 0; });
  return 2 * median_of(std::move(sample));
}

double scale_of(const wire::Tolerance& tolerance, double sum_of_squares, std::int64_t finite,
                double typical) {
  if (tolerance.exact || tolerance.scale == wire::AtolScale::absolute) return 1;
  const auto rms =
      static_cast<float>(finite ? std::sqrt(sum_of_squares / static_cast<double>(finite)) : 0.0);
  double scale = tolerance.scale == wire::AtolScale::shrink ? std::min(1.0F, rms) : rms;
  if (typical > 0) scale = std::min(scale, typical);
  return std::max(scale, tolerance.least_scale);
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

void add_output(const wire::Buffer& buffer, const Counts& counts, const wire::Tolerance& tolerance,
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
  const auto wrong = static_cast<double>(counts.mismatches);
  const bool enough = wrong <= (1 - tolerance.matched_ratio) * elements ||
                      (counts.far == 0 && wrong <= tolerance.tail * elements);
  const auto unwritten = unwritten_of(counts, buffer.dtype);
  const bool right = counts.mismatches == 0 || (enough && unwritten == 0 && counts.unexpected == 0);
  verdict.outputs.push_back(std::move(error));
  verdict.states.push_back({unwritten, counts.unexpected, right});
}

void judge_whole(const Judged& output, const wire::Tolerance& tolerance, wire::OutputState& state) {
  constexpr std::int64_t kEnough = 256;
  constexpr std::int64_t kFewFlushed = 4;
  const auto& [squares, inwards, honest, rounding, small, flushed] = output.whole;
  if (flushed >= kFewFlushed && 2 * flushed >= small) {
    state.flushed = flushed;
    state.right = false;
  }
  if (!output.shadow || output.finite < kEnough || squares == 0) return;
  const double least = output.least * output.least * static_cast<double>(output.finite);
  const double own = std::max({honest, rounding, least});
  const double ratio = std::sqrt(squares / own);
  if (tolerance.noise > 0 && ratio > tolerance.noise) {
    state.noise = ratio;
    state.right = false;
  }
  const double lean = inwards / std::sqrt(squares * static_cast<double>(output.finite));
  if (tolerance.bias > 0 && std::fabs(lean) > tolerance.bias && ratio > 1.5) state.bias = lean;
}

double rough_below(DType type, double rms, double least) {
  const double unit = std::max(64 * 0x1p-24, 16 * unit_roundoff(type));
  return std::max(unit * rms, least);
}

std::int64_t shadow_sample_step(std::int64_t elements) {
  constexpr std::int64_t kSample = 65536;
  return std::max<std::int64_t>(1, elements / kSample) | 1;
}

bool is_shadow(std::int64_t far, std::int64_t seen) {
  return far * 100 <= seen;
}

std::size_t binade_of(double value) {
  return static_cast<std::size_t>(
      std::clamp(value == 0 ? 0 : std::ilogb(value) + kBinades / 2, 0, kBinades - 1));
}

std::array<double, kBinades> honest_errors(const Binades& binades) {
  std::array<double, kBinades> rms{}, honest{};
  for (std::size_t b = 0; b < kBinades; ++b)
    if (binades.counts[b] > 0)
      rms[b] = std::sqrt(binades.squares[b] / static_cast<double>(binades.counts[b]));
  for (std::size_t b = 0; b < kBinades; ++b)
    honest[b] = std::max({rms[b], b > 0 ? rms[b - 1] : 0, b + 1 < kBinades ? rms[b + 1] : 0});
  return honest;
}

bool all_right(const wire::Comparison& verdict) {
  return verdict.guards_intact && verdict.inputs_intact && !verdict.outputs.empty() &&
         std::ranges::all_of(verdict.states, &wire::OutputState::right);
}

}  // namespace ratchet::worker
