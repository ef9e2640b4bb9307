#pragma once

#include <cstddef>
#include <span>

#include "kernels/job.h"

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
/// Errors are measured on pairs of finite values; relative errors against values of zero are left
/// out. Uses all cores; pure.
[[nodiscard]] job::Comparison compare(const Arenas& arenas, const job::Compare& plan);

}  // namespace ratchet::worker
