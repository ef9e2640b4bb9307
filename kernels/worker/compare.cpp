#include "kernels/worker/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/worker/compare_rules.h"
#include "kernels/worker/parallel.h"
#include "kernels/worker/small_float.h"
#include "server/facts/unit_roundoff.h"

namespace ratchet::worker {
namespace {

constexpr std::int64_t kPreview = 8;

/// One thread's counts of one output.
struct Tally : Counts {
  Whole whole;

  void add(const Tally& other) {
    max_abs = std::max(max_abs, other.max_abs);
    max_rel = std::max(max_rel, other.max_rel);
    sum_abs += other.sum_abs;
    finite += other.finite;
    mismatches += other.mismatches;
    far += other.far;
    unwritten += other.unwritten;
    unexpected += other.unexpected;
    if (other.first_bad && (!first_bad || *other.first_bad < *first_bad))
      first_bad = other.first_bad;
    whole.add(other.whole);
  }
};

/// One output in the arenas.
struct Output {
  const std::byte* sent;
  const std::byte* returned;
  const std::byte* expected;
  const std::byte* shadow;  ///< float64; null: none
  const std::byte* terms;   ///< magnitudes of what elements are sums of; null: unknown
  const wire::Buffer& buffer;
  const wire::Tolerance& tolerance;
  double scale = 1;  ///< of `atol`
  double rms = 0;    ///< of the expected values, if the tolerance needs it
  double least = 0;  ///< allowed at any scale
  std::int64_t row = 0;
  std::vector<float> rows{};              ///< scales of the rows; empty: one for all
  std::array<double, kBinades> honest{};  ///< RMS error of the reference by binade

  [[nodiscard]] bool same_bytes(const std::byte* a, const std::byte* b, std::int64_t i) const {
    const auto size = size_of(buffer.dtype);
    return std::memcmp(a + i * size, b + i * size, static_cast<std::size_t>(size)) == 0;
  }
  [[nodiscard]] double shadow_at(std::int64_t i) const { return element(shadow, DType::f64, i); }
  [[nodiscard]] double scale_at(std::int64_t i) const {
    return rows.empty() ? scale : rows[static_cast<std::size_t>(i / row)];
  }
  [[nodiscard]] double of_terms(std::int64_t i) const {
    const double size = terms ? std::fabs(element(terms, buffer.dtype, i)) : 0;
    return std::isfinite(size) ? tolerance.terms * size : 0;
  }
  /// What an element of this value may be off by, with nothing added for honest errors.
  [[nodiscard]] double plain(double value, std::int64_t i) const {
    return std::max({tolerance.atol * scale_at(i), least, of_terms(i)}) +
           tolerance.rtol * std::fabs(value);
  }
};

/// Sums of squares of the finite expected values.
struct Squares {
  double sum = 0;
  std::int64_t finite = 0;

  [[nodiscard]] double rms() const {
    return finite ? std::sqrt(sum / static_cast<double>(finite)) : 0.0;
  }
};

Squares squares_of(const std::byte* expected, DType type, std::int64_t from, std::int64_t to) {
  Squares squares;
  for (std::int64_t i = from; i < to; ++i) {
    const double value = element(expected, type, i);
    if (!std::isfinite(value)) continue;
    squares.sum += value * value;
    ++squares.finite;
  }
  return squares;
}

Squares squares_of(const std::byte* expected, const wire::Buffer& buffer) {
  std::mutex guard;
  Squares all;
  parallel_for(buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    const auto part = squares_of(expected, buffer.dtype, first, last);
    const std::lock_guard lock(guard);
    all.sum += part.sum;
    all.finite += part.finite;
  });
  return all;
}

/// Twice the median magnitude of the finite values other than zero, from at most `kScaleSample` or
/// so of them.
double typical_of(const std::byte* expected, const wire::Buffer& buffer) {
  const auto step = scale_sample_step(buffer.elements);
  std::vector<double> sample;
  for (std::int64_t i = 0; i < buffer.elements; i += step)
    sample.push_back(element(expected, buffer.dtype, i));
  return typical_magnitude(std::move(sample));
}

std::vector<float> row_scales(const Output& output) {
  const auto& buffer = output.buffer;
  const auto row = scaled_row(buffer);
  if (row == 0) return {};
  std::vector<float> rows(static_cast<std::size_t>(buffer.elements / row));
  parallel_for(static_cast<std::int64_t>(rows.size()), kLeastPart / row + 1,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t r = first; r < last; ++r)
                   rows[static_cast<std::size_t>(r)] = static_cast<float>(
                       squares_of(output.expected, buffer.dtype, r * row, (r + 1) * row).rms());
               });
  scale_rows(rows, row, output.scale);
  return rows;
}

/// Determines what `atol` is multiplied by.
void find_scale(Output& output) {
  const auto& tolerance = output.tolerance;
  using enum wire::AtolScale;
  const bool fixed = tolerance.scale == absolute;
  if (tolerance.exact || (fixed && !tolerance.flush)) return;
  const auto squares = squares_of(output.expected, output.buffer);
  if (fixed) {
    output.rms = squares.rms();
    return;
  }
  const double common = tolerance.scale == typical ? typical_of(output.expected, output.buffer) : 0;
  output.scale = scale_of(tolerance, squares.sum, squares.finite, common);
  output.rms = scale_of(tolerance, squares.sum, squares.finite);
  if (tolerance.scale == row) output.rows = row_scales(output);
}

/// Whether the shadow computes what the reference computes.
bool plausible(const Output& output) {
  std::int64_t far = 0;
  const auto step = shadow_sample_step(output.buffer.elements);
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < output.buffer.elements; i += step) {
    const double typed = element(output.expected, output.buffer.dtype, i);
    const double value = output.shadow_at(i);
    seen += typed != value;
    if (!std::isfinite(typed)) continue;
    far += !(std::fabs(typed - value) <= kFarFromShadow * output.plain(typed, i));
  }
  return is_shadow(far, seen);
}

/// The reference's own RMS errors by binade; each counts for its neighbors too.
void measure_honesty(Output& output) {
  Binades binades;
  for (std::int64_t i = 0; i < output.buffer.elements; ++i) {
    const double typed = element(output.expected, output.buffer.dtype, i);
    const double value = output.shadow_at(i);
    if (!std::isfinite(typed) || !std::isfinite(value)) continue;
    const auto binade = binade_of(value);
    binades.squares[binade] += (typed - value) * (typed - value);
    ++binades.counts[binade];
  }
  output.honest = honest_errors(binades);
}

double allowed(const Output& output, double value, std::int64_t i) {
  const auto& tolerance = output.tolerance;
  const double plain = output.plain(value, i);
  if (!output.shadow || tolerance.honest == 0) return plain;
  const double own = output.honest[binade_of(value)];
  const double rounding = unit_roundoff(output.buffer.dtype) * std::fabs(value);
  // A kernel with float32 inside is off by this much where its terms cancel.
  const double inside = 0x1p-20 * output.scale_at(i);
  if (tolerance.only_honest)
    return std::max(tolerance.honest * (own + rounding) + inside, output.least);
  // A poor reference widens what is allowed to a few times the rule, not without end.
  return plain + tolerance.honest * std::min(own, plain);
}

/// Whether the element is off by at most `times` what is allowed.
bool within(double got, double typed, double value, std::int64_t i, const Output& output,
            double times) {
  if (std::isnan(typed)) return std::isnan(got);
  if (std::isinf(typed) || std::isinf(got)) return got == typed;
  return std::fabs(got - value) <= times * allowed(output, value, i);  // false for NaN
}

void add_to_whole(const Output& output, double got, double typed, double value, std::int64_t i,
                  Whole& whole) {
  const double error = got - value;
  whole.squares += error * error;
  whole.inwards += value < 0 ? -error : error;
  if (output.shadow) {
    whole.honest += (typed - value) * (typed - value);
    if (value != 0) {
      const double step = std::ldexp(unit_roundoff(output.buffer.dtype), std::ilogb(value));
      whole.rounding += step * step / 3;
    }
  }
  if (!output.tolerance.flush) return;
  // Between the errors of an honest kernel and what is allowed, zeros do not come by chance; but
  // what the reference has there may be an error of its own, where the true answer is zero.
  const double size = std::fmin(std::fabs(typed), std::fabs(value));
  if (size <= rough_below(output.buffer.dtype, output.rms, output.least) ||
      size > output.plain(value, i))
    return;
  ++whole.small;
  whole.flushed += got == 0;
}

void judge_element(const Output& output, std::int64_t i, Tally& tally) {
  const double got = element(output.returned, output.buffer.dtype, i);
  const double typed = element(output.expected, output.buffer.dtype, i);
  const double value = output.shadow && std::isfinite(typed) ? output.shadow_at(i) : typed;
  const double error = std::fabs(got - value);
  if (std::isfinite(got) && std::isfinite(value)) {
    ++tally.finite;
    tally.sum_abs += error;
    tally.max_abs = std::max(tally.max_abs, error);
    if (value != 0) tally.max_rel = std::max(tally.max_rel, error / std::fabs(value));
    if (output.shadow || output.tolerance.flush)
      add_to_whole(output, got, typed, value, i, tally.whole);
  }
  const bool right = output.tolerance.exact ? output.same_bytes(output.returned, output.expected, i)
                                            : within(got, typed, value, i, output, 1);
  if (right) return;
  ++tally.mismatches;
  if (output.tolerance.exact || !within(got, typed, value, i, output, 2)) ++tally.far;
  if (!tally.first_bad) tally.first_bad = i;
  if (!std::isfinite(got) && std::isfinite(typed)) ++tally.unexpected;
  if (output.same_bytes(output.returned, output.sent, i)) ++tally.unwritten;
}

Tally judge_output(const Output& output) {
  std::mutex guard;
  Tally total;
  parallel_for(output.buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
    Tally part;
    for (std::int64_t i = first; i < last; ++i) judge_element(output, i, part);
    const std::lock_guard lock(guard);
    total.add(part);
  });
  return total;
}

void add_previews(const Output& output, OutputError& error) {
  for (std::int64_t i = 0; i < std::min(kPreview, output.buffer.elements); ++i) {
    error.preview_kernel.push_back(element(output.returned, output.buffer.dtype, i));
    error.preview_reference.push_back(element(output.expected, output.buffer.dtype, i));
  }
}

bool same_range(const Arenas& arenas, std::int64_t from, std::int64_t to) {
  return std::memcmp(arenas.sent.data() + from, arenas.returned.data() + from,
                     static_cast<std::size_t>(to - from)) == 0;
}

/// Checks guards and inputs; stores the name of the first buffer affected.
void check_untouched(const Arenas& arenas, const wire::ArenaLayout& layout,
                     wire::Comparison& verdict) {
  std::int64_t end = 0;
  const auto guard = [&](std::int64_t to, const std::string& beside) {
    if (same_range(arenas, end, to) || !verdict.guards_intact) return;
    verdict.guards_intact = false;
    verdict.touched = beside;
  };
  std::string before = layout.buffers.empty() ? "" : layout.buffers.front().name;
  for (const auto& buffer : layout.buffers) {
    guard(buffer.offset, before);
    end = buffer.offset + buffer.bytes();
    before = buffer.name;
    if (buffer.role != Role::in || same_range(arenas, buffer.offset, end)) continue;
    verdict.inputs_intact = false;
    if (verdict.guards_intact) verdict.touched = buffer.name;
  }
  guard(layout.bytes, before);
}

}  // namespace

wire::Comparison compare(const Arenas& arenas, const wire::Compare& plan) {
  wire::Comparison verdict;
  check_untouched(arenas, plan.layout, verdict);
  for (std::size_t i = 0; i < plan.layout.buffers.size(); ++i) {
    const auto& buffer = plan.layout.buffers[i];
    if (buffer.role == Role::in) continue;
    Output output{arenas.sent.data() + buffer.offset,
                  arenas.returned.data() + buffer.offset,
                  arenas.expected.data() + buffer.offset,
                  nullptr,
                  plan.with_terms ? arenas.terms.data() + buffer.offset : nullptr,
                  buffer,
                  plan.tolerances.at(i)};
    output.row = scaled_row(buffer);
    output.least = least_error(output.tolerance, buffer.dtype);
    find_scale(output);
    if (plan.wide && is_floating(buffer.dtype)) {
      output.shadow = arenas.shadow.data() + plan.wide->buffers.at(i).offset;
      if (!plausible(output)) output.shadow = nullptr;
    }
    if (output.shadow) measure_honesty(output);
    const auto tally = judge_output(output);
    add_output(buffer, tally, output.tolerance, verdict);
    if (!output.tolerance.exact)
      judge_whole({tally.whole, tally.finite, output.shadow != nullptr, output.least},
                  output.tolerance, verdict.states.back());
    add_previews(output, verdict.outputs.back());
  }
  verdict.passed = all_right(verdict);
  return verdict;
}

}  // namespace ratchet::worker
