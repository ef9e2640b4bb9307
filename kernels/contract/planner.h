#pragma once

#include "kernels/build/target.h"
#include "kernels/contract/contract_warnings.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/task.h"

namespace ratchet {

// Turns a caller's task into a run's frozen contract. Pure and thread-safe: no files, no devices.
// All errors are `invalid_argument` and name the field, the rule and the value seen.

/// Freezes a task: implementation, parameters (from the signature), tensors (given, or inferred by
/// the compatible rule), cases, work, tolerances, baselines.
///
/// Inference when `tensors` is empty: a pointer to non-const is an output; all buffers have
/// `ptr_size` elements, else the product of the two largest integer parameters, the only one, or
/// 1,048,576 when there is none.
[[nodiscard]] Result<Contract> plan_contract(const TaskRequest& task, const Source& kernel,
                                             const Source& reference, const DeviceInfo& device);

}  // namespace ratchet
