#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/facts/contract.h"

namespace ratchet {

// Whether outputs are sums of products with each floating-point input, as both judges ask. Pure.

/// The floating-point inputs and the outputs of a call.
struct PartsOfSums {
  std::vector<std::string> inputs, outputs;
};
/// Empty where outputs cannot be such sums, or inputs may not take other values.
[[nodiscard]] std::optional<PartsOfSums> parts_of_sums(const Contract& contract,
                                                       const wire::ArenaLayout& layout);

/// How to compare sums of the reference's answers with its answers to sums, by the server's own
/// tolerances: given ones may be closer than two of its answers.
[[nodiscard]] wire::Compare plan_for_sums(Contract contract, const Dims& dims,
                                          const wire::ArenaLayout& layout);

}  // namespace ratchet
