#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

/// Default tolerance per dtype.
///
/// fp32 uses KernelBench's 1e-4, fp16 and bf16 the usual 1e-2 (KernelBench, SOL-ExecBench), with
/// `atol` relative to the answers' RMS: an absolute 1e-4 passes zeros when the answers are about
/// 1e-4, and is too tight when a sum of thousands is about 100. One rounding to fp16 or TF32 moves
/// a value by up to 2^-11 = 4.9e-4, so an fp32 task computed in them fails; the 1e-3 that some
/// packages use would pass it. fp8 may be off by one step: 2^-3 of the value (e4m3), 2^-2 (e5m2).
/// fp64 allows only for a different order of summation. Integers are exact. Pure and thread-safe,
/// like the other functions here.
[[nodiscard]] wire::Tolerance default_tolerance(DType type);

/// The caller's absolute values if given, else the default. Integers stay exact.
[[nodiscard]] wire::Tolerance tolerance_for(DType type, const std::optional<double>& atol,
                                            const std::optional<double>& rtol);

/// How many elements contribute to one output element, as far as the contract shows: the declared
/// operations per element, halved, or the elements of the largest input per output element,
/// whichever is larger; at least 1.
[[nodiscard]] double reduction_length(const Contract& contract, const Dims& dims,
                                      const wire::ArenaLayout& layout, const wire::Buffer& output);

/// The factor by which a default `atol` grows for a reduction of this length. The error of an
/// honest sum grows with the root of its length and exceeds fp32's default beyond 2^18 terms: 3 ·
/// 2^-24 · 2^9 = 0.9e-4. Never above 3, so that one rounding to fp16 or TF32 (4.9e-4) still fails.
/// Wider types have margin enough at any length; narrower ones round their results more than their
/// sums.
[[nodiscard]] double reduction_growth(DType type, double length);

/// The largest growth of a default tolerance over all cases and outputs; 1 if the contract gives
/// its own.
[[nodiscard]] double largest_growth(const Contract& contract);

/// Whether an output that is linear in each floating-point input is allowed the errors that its
/// terms earn: frozen with the run, by the version of its rules.
[[nodiscard]] bool allows_for_terms(const Contract& contract);

/// Whether a judge on a device applies every rule of the one on the processor: frozen with the run,
/// by the version of its rules.
[[nodiscard]] bool same_rules_on_devices(const Contract& contract);

/// Whether outputs are held to more with a shadow than without: 16-bit ones without given
/// tolerances, the caller's or the reference's own.
[[nodiscard]] bool shadow_tightens(const Contract& contract, const std::optional<double>& atol,
                                   const std::optional<double>& rtol);

/// What an honest sum may be off by for each unit of the magnitudes of its terms: 8 roundings of
/// what kernels compute in. Their errors grow with the root of the length; beyond 2^18 terms this
/// falls by it, so that TF32 products (2^-11 for each term, in both directions) still fail.
[[nodiscard]] double error_of_terms(DType type, double length);

/// The task's tolerances. Errors: `invalid_argument` for a `rest_within` where nothing may be left
/// over.
[[nodiscard]] Status plan_tolerances(Contract& contract, const TaskRequest& task);

/// What is known about one trial and its case beside the contract.
struct TrialFacts {
  std::string distribution = "normal";
  std::vector<double> normal_rms;  ///< of each output under `normal`, in the layout's order
  std::vector<double> least_rms;   ///< the RMS of each output over several trials; empty: unknown
  bool elementwise = false;        ///< one input element moves one output element
  bool shadow = false;             ///< the reference's answer in float64 is at hand
  bool terms = false;              ///< and its answer to the magnitudes of the inputs
};

/// How to compare the outputs of one call. `run_atol` and `run_rtol`: the caller's or the
/// reference's own, for outputs that have none in the contract. Given ones do not grow. By the
/// rules of `contract.judge` a given `atol` holds for the magnitude of the `normal` distribution
/// and scales with the answers of every other, there within `looser` times the server's own;
/// integers are as close as a given `atol` of 1 or more says; and 16-bit outputs without given
/// tolerances are held to the errors of an honest kernel.
[[nodiscard]] wire::Compare comparison_plan(const Contract& contract, const Dims& dims,
                                            const wire::ArenaLayout& layout,
                                            const std::optional<double>& run_atol,
                                            const std::optional<double>& run_rtol,
                                            const TrialFacts& facts = {});

}  // namespace ratchet
