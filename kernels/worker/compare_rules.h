#pragma once

// The rules shared by the judges on the processor and on a device, so that both decide alike. Pure.

#include <cstdint>
#include <optional>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// `atol` after scaling, from the sum of squares of the finite expected values. The RMS is rounded
/// to single precision, so the order of summation does not matter.
[[nodiscard]] double scaled_atol(const wire::Tolerance& tolerance, double sum_of_squares,
                                 std::int64_t finite);

/// What an element may be off by whatever the answers' magnitude, unless `atol` is zero. Below the
/// smallest normal number of what kernels compute in, sums round each term, and many flush to zero.
[[nodiscard]] double least_error(const wire::Tolerance& tolerance, DType type);

/// Counts over one output; `first_bad` is empty when nothing is wrong.
struct Counts {
  double max_abs = 0, max_rel = 0, sum_abs = 0;
  std::int64_t finite = 0, mismatches = 0, unwritten = 0, unexpected = 0;
  std::optional<std::int64_t> first_bad;
};

/// Appends one output to the verdict, without previews. As many wrong elements as chance makes
/// equal to the bytes they were sent with are not called unwritten.
void add_output(const wire::Buffer& buffer, const Counts& counts, double matched_ratio,
                wire::Comparison& verdict);

/// Whether guards and inputs are intact and all outputs are right.
[[nodiscard]] bool all_right(const wire::Comparison& verdict);

}  // namespace ratchet::worker
