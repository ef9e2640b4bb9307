#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/judge/reference.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/task.h"

namespace ratchet {

/// How many elements the buffers of an entry have, where only its reference knows.
struct ReferenceExtents {
  std::vector<TensorSpec> tensors;  ///< flat; those whose extent was found
  /// What is not, for a message. Empty if nothing is, or if the reference follows the sizes of its
  /// buffers, whatever they are: then `tensors` is empty, too.
  std::string unclear;
};

/// Finds the extents of a task without `tensors` by running its reference, on the processor, on
/// buffers that are too large, at three settings of the dims: the last element that an output's
/// writes reach, and the last element of an input whose change moves the answer. An extent is
/// written as the simplest expression over dims that gives all three: a product, a multiple of
/// one, one with a constant added, products of sums like H - KH + 1.
///
/// Errors: as `plan_contract` and `open_reference`; `invalid_argument` where the reference fails.
[[nodiscard]] Result<ReferenceExtents> extents_of_reference(
    const ReferenceParts& parts, const TaskRequest& task, const Source& kernel,
    const Source& reference, const DeviceInfo& device, const CallContext& call);

/// The simplest expression over dims that has these values at these settings; empty if there is
/// none, or several equally simple ones. Pure.
[[nodiscard]] std::optional<std::string> expression_for(const std::vector<Dims>& settings,
                                                        const std::vector<std::int64_t>& values);

/// `"tensors": [...]` for this signature, with the shapes given and `…` for others.
[[nodiscard]] std::string tensors_example(const std::vector<Parameter>& parameters,
                                          const std::vector<TensorSpec>& known);

}  // namespace ratchet
