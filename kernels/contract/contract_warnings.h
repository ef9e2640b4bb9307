#pragma once

#include <vector>

#include "server/facts/contract.h"
#include "server/facts/findings.h"

namespace ratchet {

/// Weaknesses of a valid contract, by code:
///   untyped_indices      integer input whose `init` says nothing about its range
///   loose_tolerance      rtol above ten times the default
///   loose_matched_ratio  part of every output may be wrong
///   tight_tolerance      tolerance below the rounding of the output's type
///   inferred_tensors     all buffers have the size that the compatible rule infers
///   solution_inputs      setup() of the first kernel, not of the reference, makes the inputs
///   no_hidden_sizes      the relations in `where` leave no size to check but the given ones
///   work_undeclared      no declared work, so no achieved rates and no physics floor
///   fixed_seed           the caller knows the seed
///   missing_extern_c     only the generated header gives the entry C linkage
[[nodiscard]] std::vector<Reason> contract_warnings(const Contract& contract);

}  // namespace ratchet
