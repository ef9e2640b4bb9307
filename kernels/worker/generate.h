#pragma once

#include <cstddef>
#include <span>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Fills an arena: inputs by their `init`, outputs with random bytes (poison), guard bands with
/// random bytes. The same plan makes the same bytes on any number of threads.
///
/// Distributions of floating `normal` inputs:
///   normal   N(0, 1)
///   shifted  N(1, 1): answers that bet on a mean of zero fail
///   large    N(0, s²), s = 30 for float64, float32 and bfloat16, so that exp without a subtracted
///            maximum overflows; 10 for float16 and 4 for the 8-bit types, whose own range would
///            else overflow in an honest product
///   small    N(0, 2^-12), N(0, 2^-6) for the 8-bit types: absolute tolerances and dropped epsilons
/// `uniform(a,b)` means the same under all four; integers include b.
/// Integers without a range are uniform in [0, index_limit). `indices(n)` and they: uniform /
/// clustered on few values / the two ends only / rising. `permutation`: random / reversed / rotated
/// / the identity. `offsets(n)`: random / all in one row / every other row empty / even rows.
///
/// Errors: `invalid_argument` for an init or distribution that is not one of these.
Status generate(std::span<std::byte> arena, const wire::Generate& plan);

}  // namespace ratchet::worker
