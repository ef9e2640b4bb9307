#pragma once

#include <string_view>
#include <vector>

#include "server/facts/contract.h"

namespace ratchet {

/// Cases that the server adds to the given ones, to detect kernels that handle only the given
/// sizes. Drawn from `seed` (derive it from the run's secret): same seed, same cases.
/// None is larger than a given case. Preserved: each dim's power-of-two factor (up to 128),
/// equality of dims, dims that are multiples or products of others, and dims up to 128 (tile or
/// head sizes). The first case has odd multiples of those factors (since rules version 6). With
/// `contract.any_size`, odd sizes are drawn too; without, of the dims that are odd in a given case
/// (before rules version 7: of all, if one is). `hidden` is set, `weight` is 0. Pure and
/// thread-safe. Returns fewer than `count` cases (even none) if the rules leave no other size, or
/// if the contract's tensors or launch do not fit them.
[[nodiscard]] std::vector<Case> hidden_cases(const Contract& contract, std::string_view seed,
                                             int count);

/// Likewise, of every given case: one whose sizes are 1 to 4, and one whose sizes are one below, at
/// or one above the widths of vectors, warps and blocks. Dims of which no odd size is drawn keep
/// theirs. Empty if that is all of them.
[[nodiscard]] std::vector<Case> edge_cases(const Contract& contract, std::string_view seed);

/// Edge cases to decide by whether a kernel takes any size at all, so that no later check finds one
/// that it does not take by chance: all sizes from 1 to 4 of the first given case, and several at
/// widths.
[[nodiscard]] std::vector<Case> deciding_edge_cases(const Contract& contract,
                                                    std::string_view seed);

}  // namespace ratchet
