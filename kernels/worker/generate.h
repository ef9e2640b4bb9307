#pragma once

#include <cstddef>
#include <span>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"

namespace ratchet::worker {

/// Elements of a throwaway input before they repeat: a prime, so that the rows of a matrix differ.
inline constexpr std::int64_t kRepeated = 1'048'573;

/// Fills an arena: inputs according to their `init`, outputs (poison) and guard bands with random
/// bytes. The same plan produces the same bytes on any number of threads.
///
/// Distributions of floating-point `normal` inputs:
///   normal   N(0, 1)
///   shifted  N(1, 1): exposes answers that assume a mean of zero
///   large    N(0, s²), s = 30 for float64, float32 and bfloat16, so that exp without a subtracted
///            maximum overflows; 10 for float16 and 4 for the 8-bit types, which would otherwise
///            overflow in a correct product
///   small    N(0, 2^-12), N(0, 2^-6) for the 8-bit types: exposes absolute tolerances and dropped
///            epsilons
///   special  by rows of the last axis: zeros, +0 and -0, subnormals, multiples of 1/2 (ties of
///            roundings), values near 2^-12, one value among zeros, normal
///   sequence by rows of the last axis: ascending, descending, constant, alternating
///   extreme  float16 only, others as normal: magnitudes of 90 to 120, beyond the exponentials of
///            single precision
///   throwaway  as normal, but only the first kRepeated elements of a tensor are drawn and the rest
///            repeats them: for calls whose answers nobody looks at. Holds for every init whose
///            elements do not belong together
/// `uniform(a,b)` is the same under all; integers include b.
/// The other kinds, under normal / shifted / large / small (special is as normal, sequence as
/// small):
///   `integers(a,b)`: uniform / clustered on a few values / only the two ends / in [-3, 3], and for
///   special half of them among -1, 0, 1 and the ends
///   integers without a range, in [0, index_limit), and `indices(n)`: uniform / clustered on a few
///            values / only the two ends / ascending
///   `permutation`: random / reversed / rotated / identity
///   `zeros`: zero under all
///   `offsets(n)`: random / all in one row / every other row empty / even rows
///
/// Under a recipe (kernels/protocol/value_recipes.h) permutations are ascending, descending or
/// random, and offsets lie all in one row for `few`, or are even for `ascending`.
///
/// Errors: `invalid_argument` for any other init or distribution.
Status generate(std::span<std::byte> arena, const wire::Generate& plan);

/// Elements of one row of an input: its last axis, or an eighth of a vector.
[[nodiscard]] std::int64_t row_of(const wire::Buffer& buffer);

/// A value below the least normal one of the type, or of single precision.
[[nodiscard]] double subnormal_of(DType type);

}  // namespace ratchet::worker
