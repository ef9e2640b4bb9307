#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// The arenas of one execution: as sent, as returned, with the expected outputs, and, if there is
/// one, with the reference's answer in float64 (`Compare::wide`).
struct Arenas {
  std::span<const std::byte> sent;
  std::span<const std::byte> returned;
  std::span<const std::byte> expected;
  std::span<const std::byte> shadow{};
};

/// Decides from the raw bytes alone whether a kernel's result is correct.
///
/// Guards and inputs must be unchanged bit for bit. An output element passes when
/// `|got - expected| <= atol * scale + rtol * |expected|`, evaluated so that a NaN error fails. NaN
/// matches only NaN, and an infinity only the same infinity, whatever the tolerance. `exact`
/// compares the bytes. An empty list of outputs never passes. With `matched_ratio` below 1 the
/// remaining share may be wrong, but not missing, NaN or infinite. Errors are measured on pairs of
/// finite values; relative errors exclude expected values of zero. Uses all cores; pure.
///
/// With a shadow, errors are distances from the shadow's values instead, and `honest` adds that
/// many honest errors to what is allowed: the reference's own (RMS over the elements of similar
/// magnitude) and one rounding of the output's type. An output whose reference and shadow differ in
/// more than 1 % of the elements by four times what is allowed is judged without its shadow, which
/// then computes something else. docs/judging.md explains `noise`, `bias` and `flushed`.
[[nodiscard]] wire::Comparison compare(const Arenas& arenas, const wire::Compare& plan);

// The rules shared with the judge on a device, so that both decide alike.

/// `atol` after scaling, from the sum of squares of the finite expected values. The RMS is rounded
/// to single precision, so the order of summation does not matter.
[[nodiscard]] double scaled_atol(const wire::Tolerance& tolerance, double sum_of_squares,
                                 std::int64_t finite);

/// Counts over one output; `first_bad` is empty when nothing is wrong.
struct Counts {
  double max_abs = 0, max_rel = 0, sum_abs = 0;
  std::int64_t finite = 0, mismatches = 0, unwritten = 0, unexpected = 0;
  std::optional<std::int64_t> first_bad;
};

/// Appends one output to the verdict, without previews.
void add_output(const wire::Buffer& buffer, const Counts& counts, double matched_ratio,
                wire::Comparison& verdict);

/// Whether guards and inputs are intact and all outputs are right.
[[nodiscard]] bool all_right(const wire::Comparison& verdict);

}  // namespace ratchet::worker
