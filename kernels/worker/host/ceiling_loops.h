#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ratchet::worker {

// The loops whose speed is the roof. This file is always compiled with -O3; the widest vectors of
// the processor are chosen at run time. Pure, one thread each.

/// Sum over the words: reads every byte once.
[[nodiscard]] double read_all(std::span<const double> words);

/// Fused multiply-adds on values held in registers, ten independent chains: two units with a
/// latency of four cycles need eight. Returns the operations done (two per multiply-add); `sink`
/// keeps the result alive.
[[nodiscard]] double multiply_add_f32(std::int64_t rounds, double& sink);
[[nodiscard]] double multiply_add_f64(std::int64_t rounds, double& sink);

}  // namespace ratchet::worker
