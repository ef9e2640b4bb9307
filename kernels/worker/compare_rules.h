#pragma once

// The rules shared by the judges on the processor and on a device, so that both decide alike. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// What `atol` is multiplied by, from the sum of squares of the finite expected values and, where
/// it is not 0, their typical magnitude; 1 for tolerances that do not scale. The RMS is rounded to
/// single precision, so the order of summation does not matter.
[[nodiscard]] double scale_of(const wire::Tolerance& tolerance, double sum_of_squares,
                              std::int64_t finite, double typical = 0);

/// What an element may be off by whatever the answers' magnitude, unless `atol` is zero. Below the
/// smallest normal number of what kernels compute in, sums round each term, and many flush to zero.
[[nodiscard]] double least_error(const wire::Tolerance& tolerance, DType type);

/// The length of the rows of an output whose rows have scales of their own; 0: they have none.
[[nodiscard]] std::int64_t scaled_row(const wire::Buffer& buffer);

/// Turns the RMS of each row of length `row` into its scale: its own RMS, at least that of the
/// whole output (`scale`); at least that of the median row where the largest is far above it.
void scale_rows(std::vector<float>& rows, std::int64_t row, double scale);

/// The distance between the elements that stand for an output's typical magnitude; odd, so that
/// they come from all columns.
[[nodiscard]] std::int64_t scale_sample_step(std::int64_t elements);

/// Twice the median magnitude of those that are finite and not zero; 0 if there is none.
[[nodiscard]] double typical_magnitude(std::vector<double> sample);

/// Counts over one output; `first_bad` is empty when nothing is wrong.
struct Counts {
  double max_abs = 0, max_rel = 0, sum_abs = 0;
  std::int64_t finite = 0, mismatches = 0;
  std::int64_t far = 0;  ///< of the mismatches: beyond twice what is allowed
  std::int64_t unwritten = 0, unexpected = 0;
  std::optional<std::int64_t> first_bad;
};

/// Appends one output to the verdict, without previews. As many wrong elements as chance makes
/// equal to the bytes they were sent with are not called unwritten.
void add_output(const wire::Buffer& buffer, const Counts& counts, const wire::Tolerance& tolerance,
                wire::Comparison& verdict);

/// Sums for the judgments on a whole output.
struct Whole {
  double squares = 0;   ///< of the errors
  double inwards = 0;   ///< of the errors, positive away from zero
  double honest = 0;    ///< squares of the reference's own errors
  double rounding = 0;  ///< expected squares of one rounding to the output's type
  std::int64_t small = 0, flushed = 0;

  void add(const Whole& other) {
    squares += other.squares;
    inwards += other.inwards;
    honest += other.honest;
    rounding += other.rounding;
    small += other.small;
    flushed += other.flushed;
  }
};

/// An output as a whole.
struct Judged {
  Whole whole;
  std::int64_t finite = 0;  ///< pairs of values that `whole` adds up
  bool shadow = false;      ///< errors are distances from a shadow
  double least = 0;         ///< see `least_error`
};

/// Judges an output's errors together: their size, their sign, and zeros for small values.
void judge_whole(const Judged& output, const wire::Tolerance& tolerance, wire::OutputState& state);

/// Below this magnitude an honest kernel may be as far off as the value is large. `rms`: of the
/// expected values.
[[nodiscard]] double rough_below(DType type, double rms, double least);

/// A shadow computes something else where more than 1 % of the elements of a sample, this far
/// apart, that are off at all (`seen`), are so by that many times what is allowed (`far`).
inline constexpr double kFarFromShadow = 4;
[[nodiscard]] std::int64_t shadow_sample_step(std::int64_t elements);
[[nodiscard]] bool is_shadow(std::int64_t far, std::int64_t seen);

inline constexpr int kBinades = 128;
/// The binade of a magnitude, from 2^-64 to 2^63.
[[nodiscard]] std::size_t binade_of(double value);
/// Squares of the reference's own errors by binade of the shadow.
struct Binades {
  std::array<double, kBinades> squares{};
  std::array<std::int64_t, kBinades> counts{};
};
/// The reference's own RMS errors by binade; each counts for its neighbors too.
[[nodiscard]] std::array<double, kBinades> honest_errors(const Binades& binades);

/// Whether guards and inputs are intact and all outputs are right.
[[nodiscard]] bool all_right(const wire::Comparison& verdict);

}  // namespace ratchet::worker
