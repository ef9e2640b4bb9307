#pragma once

#include <cstddef>
#include <span>

#include "kernels/protocol/messages.h"

namespace ratchet::worker {

/// The arenas of one execution: as sent, as returned, with the expected outputs, and, if there are
/// such, with the reference's answer in float64 (`Compare::wide`) and with its answer to the
/// magnitudes of the inputs (`Compare::with_terms`).
struct Arenas {
  std::span<const std::byte> sent;
  std::span<const std::byte> returned;
  std::span<const std::byte> expected;
  std::span<const std::byte> shadow{};
  std::span<const std::byte> terms{};
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
/// magnitude) and one rounding of the output's type. An output whose reference and shadow differ by
/// four times what is allowed in more than 1 % of the elements that differ at all is judged without
/// its shadow, which then computes something else. With terms, an element may be off by at least
/// `terms` times the magnitude of what it is a sum of. docs/judging.md explains `noise`, `bias` and
/// `flushed`.
[[nodiscard]] wire::Comparison compare(const Arenas& arenas, const wire::Compare& plan);

}  // namespace ratchet::worker
