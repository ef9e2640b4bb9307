#pragma once

#include <optional>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Declared work of one case, evaluated.
struct WorkDone {
  double bytes = 0;
  double flops = 0;
  DType type = DType::f32;
};

/// The type of arithmetic that is fastest of those that the inputs are made for: what is declared
/// without a type is held against no lower roof than that. Integers of one byte count where no
/// input is floating; float64 does not, as no GPU is faster with it.
[[nodiscard]] DType fastest_arithmetic(const std::vector<TensorSpec>& tensors);

/// Evaluates the declared work; empty if the contract declares none. Errors: see expression.h, and
/// `invalid_argument` for a negative amount.
[[nodiscard]] Result<std::optional<WorkDone>> work_of(const Contract& contract, const Dims& dims);

}  // namespace ratchet
