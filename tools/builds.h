#pragma once

#include <vector>

#include "kernels/lab.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A source and the contract, with its flags, that it is built by.
struct BuildOrder {
  Contract contract;
  Source source;
};

/// Builds all at once: compilers wait for files as much as they compute. Results in the order of
/// the orders; a source that does not compile is a result. Errors: as `Lab::build`, of the first
/// that has one, when all have ended.
[[nodiscard]] Result<std::vector<Candidate>> build_all(Lab& lab, std::vector<BuildOrder> orders,
                                                       CallContext& call);

}  // namespace ratchet
