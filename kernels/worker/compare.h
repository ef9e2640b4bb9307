#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// The three arenas of one execution: as it was sent, as it came back, and with the expected
/// outputs.
struct Arenas {
  std::span<const std::byte> sent;
  std::span<const std::byte> returned;
  std::span<const std::byte> expected;
};

/// Decides whether a kernel did what it should, from the raw bytes alone.
///
/// Guards and inputs must be unchanged bit for bit. An output element passes when
/// `|got - expected| <= atol * scale + rtol * |expected|`; the condition is written so that a NaN
/// error fails. NaN passes only against NaN, an infinity only against the same infinity, whatever
/// the tolerance. `exact` compares the bytes. An empty list of outputs never passes.
/// `matched_ratio` below 1 lets that share's rest be wrong, but none of it missing, NaN or
/// infinite. Errors are measured on pairs of finite values; relative errors against values of zero
/// are left out. Uses all cores; pure.
[[nodiscard]] wire::Comparison compare(const Arenas& arenas, const wire::Compare& plan);

// What a judge on a device shares with it, so that both decide alike.

/// `atol` after scaling, from the sum of the squares of the finite expected values. The RMS counts
/// in single precision: the order of a sum does not show in it.
[[nodiscard]] double scaled_atol(const wire::Tolerance& tolerance, double sum_of_squares,
                                 std::int64_t finite);

/// What was counted in one output; `first_bad` is empty when nothing is wrong.
struct Counts {
  double max_abs = 0, max_rel = 0, sum_abs = 0;
  std::int64_t finite = 0, mismatches = 0, unwritten = 0, unexpected = 0;
  std::optional<std::int64_t> first_bad;
};

/// Adds one output to the verdict, without previews.
void add_output(const wire::Buffer& buffer, const Counts& counts, double matched_ratio,
                wire::Comparison& verdict);

/// Whether guards, inputs and all outputs are as they should be.
[[nodiscard]] bool all_right(const wire::Comparison& verdict);

}  // namespace ratchet::worker
