#pragma once

#include <vector>

#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// What weakens a contract without breaking it: untyped integer inputs, no declared work, a fixed
/// seed, buffers sized by the compatible rule, a missing extern "C". Codes: untyped_indices,
/// work_undeclared, fixed_seed, inferred_tensors, missing_extern_c, loose_tolerance.
[[nodiscard]] std::vector<Reason> contract_warnings(const Contract& contract);

}  // namespace ratchet
