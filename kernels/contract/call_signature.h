#pragma once

#include <set>
#include <string>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

// How a torch module or a Python function is called: the `signature` of a contract (docs/tasks.md).
// Members: `init` and `init_kwargs` of the module's constructor, `state` by key of its state_dict,
// `args`, `kwargs` and `returns` of the call. A value is a skeleton: lists, {"tuple": […]},
// {"dict": {…}} and {"object": {…}} of {"tensor": NAME}, {"dim": NAME}, {"expr": "2*n"},
// {"scalar": NAME} and literals. kernels/python/signature.py builds the values.
//
// Pure and thread-safe.

/// Adopts the task's call style and signature. Needs the contract's tensors, parameters and cases.
/// Every input must be passed or part of the state, every output returned or passed. Errors:
/// `invalid_argument` naming the place in the signature, the rule and the value seen.
[[nodiscard]] Status plan_call(Contract& contract, const TaskRequest& task);

/// The tensors that a module's state holds. Those with the role in are constant from one timed call
/// on a module to the next.
[[nodiscard]] std::set<std::string> state_tensors(const Contract& contract);

/// Whether calls get an output, whose contents they could then read or add onto. A module or a
/// function that only returns its results does not.
[[nodiscard]] bool takes_outputs(const Contract& contract);

}  // namespace ratchet
