#pragma once

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Whether a reference in C++ or CUDA can be called with the arguments of the contract's entry (it
/// may omit a trailing stream): as many, of the same types, and in the same order where both have
/// the same names. Pure. Error: `invalid_argument` with the first difference.
[[nodiscard]] Status check_compiled_reference(const Contract& contract);

}  // namespace ratchet
