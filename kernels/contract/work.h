#pragma once

#include <optional>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Declared work of one case, evaluated.
struct WorkDone {
  double bytes = 0;
  double flops = 0;
  DType type = DType::f32;
};

/// Evaluates the declared work; empty if the contract declares none. Errors: see expression.h, and
/// `invalid_argument` for a negative amount.
[[nodiscard]] Result<std::optional<WorkDone>> work_of(const Contract& contract, const Dims& dims);

}  // namespace ratchet
