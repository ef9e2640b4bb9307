#pragma once

#include <string_view>
#include <vector>

#include "server/facts/contract.h"

namespace ratchet {

/// Cases that the server adds to the given ones, so that a kernel that only handles the given sizes
/// is found out. Drawn from `seed` (derive it from the run's secret): same seed, same cases.
///
/// Each is no larger than a given case. Kept: each dim's power-of-two factor (up to 128), equal
/// dims stay equal, multiples and products of other dims stay so, dims up to 128 stay as they are
/// (they are tile or head sizes). With `contract.any_size`, or when a given case has an odd dim,
/// odd sizes are drawn too. `hidden` is set, `weight` 0. Pure and thread-safe. Fewer than `count`
/// (even none) come back when the rules leave no other size, or when the contract's tensors or its
/// launch do not fit them.
[[nodiscard]] std::vector<Case> hidden_cases(const Contract& contract, std::string_view seed,
                                             int count);

}  // namespace ratchet
