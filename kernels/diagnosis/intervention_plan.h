#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/facts/contract.h"
#include "server/facts/profile.h"

namespace ratchet {

// Which conditions a call can be timed under such that the result says something. Pure.

/// Of more dims only the first so many are halved.
inline constexpr std::size_t kMostDims = 4;

/// The sizes that come from halving dims of `dims` again and again, keep the contract's relations
/// and have at most `most_bytes` of tensors: the three largest; of equal ones those with the fewest
/// halvings, most evenly spread. Empty if none has, or if `dims` themselves do.
[[nodiscard]] std::vector<Dims> sizes_that_fit(const Contract& contract, const Dims& dims,
                                               std::int64_t most_bytes);

/// Whether a call takes so long that what its launches cost does not decide about its time.
[[nodiscard]] bool far_above_launch(double time_ns, int launches);

/// Blocks that fit on a multiprocessor at the same time, by what a launch reported.
[[nodiscard]] std::optional<double> resident_blocks(const KernelCounters& kernel,
                                                    int multiprocessors);

/// Whether half of the resident blocks are half of the warps: two waves at least, so that no block
/// can count on all others, and nearly all warps there that fit.
[[nodiscard]] bool has_blocks_to_spare(const KernelCounters& kernel, int multiprocessors);

/// The most registers per thread with which one more block is resident; empty where registers are
/// not what limits them, or none in use suffices.
[[nodiscard]] std::optional<int> register_cap(const KernelCounters& kernel);

/// Whether `half`, of the halved dim, differs from the call as it is in half of the blocks, which
/// have as much to do as before. `bytes_left`: share of the tensors' bytes.
[[nodiscard]] bool halves_blocks_alone(const KernelCounters& kernel, const KernelCounters& half,
                                       double bytes_left);

}  // namespace ratchet
