#pragma once

#include <optional>

#include <cstdint>

#include "kernels/protocol/messages.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Default tolerance per dtype.
///
/// fp32 is KernelBench's 1e-4 and fp16, bf16 the usual 1e-2 (KernelBench, SOL-ExecBench), with
/// `atol` relative to the answers' RMS: an absolute 1e-4 lets zeros pass where the answers are
/// about 1e-4, and is too tight where a sum of thousands is about 100. One rounding to fp16 or TF32
/// moves a value by up to 2^-11 = 4.9e-4, so that an fp32 task done in them fails; the 1e-3 that
/// some packages use would pass it. fp8 may be one step off: 2^-3 of the value (e4m3), 2^-2 (e5m2).
/// fp64 leaves room for another order of summation only. Integers are exact. Pure and thread-safe,
/// like the others here.
[[nodiscard]] wire::Tolerance default_tolerance(DType type);

/// Half a unit in the last place of 1: the error of an exact answer that is stored in this type. 0
/// for integers.
[[nodiscard]] double rounding_error(DType type);

/// The caller's figures, absolute, where given; else the default. Integers stay exact.
[[nodiscard]] wire::Tolerance tolerance_for(DType type, const std::optional<double>& atol,
                                            const std::optional<double>& rtol);

/// How many elements go into one of the output's, as far as the contract shows it: the declared
/// operations per element, halved, or the elements of the largest input per element of the output,
/// whichever is more; at least 1.
[[nodiscard]] double reduction_length(const Contract& contract, const Dims& dims,
                                      const wire::ArenaLayout& layout, const wire::Buffer& output);

/// By what a default `atol` grows for so long a reduction. The error of an honest sum grows with
/// the root of its length, and outgrows the default of fp32 beyond 2^18 terms: 3 · 2^-24 · 2^9 =
/// 0.9e-4. Never above 3, so that one rounding to fp16 or TF32 (4.9e-4) still fails. Wider and
/// narrower types have room enough at any length, or round their results more than their sums.
[[nodiscard]] double reduction_growth(DType type, double length);

/// What the outputs of one call are held against. `atol` and `rtol`: the caller's or the
/// reference's own, which do not grow.
[[nodiscard]] wire::Compare comparison_plan(const Contract& contract, const Dims& dims,
                                            const wire::ArenaLayout& layout,
                                            const std::optional<double>& atol,
                                            const std::optional<double>& rtol);

}  // namespace ratchet
