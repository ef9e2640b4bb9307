#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ratchet::worker {

// The loops whose speed defines the ceilings. Always compiled with -O3; the processor's widest
// vectors are chosen at run time. Pure, single-threaded.

/// The sum of all words; reads every byte once.
[[nodiscard]] double read_all(std::span<const double> words);

/// Fused multiply-adds on registers in ten independent chains; two units with a latency of four
/// cycles need eight. Returns the number of operations (two per multiply-add). `sink` receives the
/// result, so that it is not optimized away.
[[nodiscard]] double multiply_add_f32(std::int64_t rounds, double& sink);
[[nodiscard]] double multiply_add_f64(std::int64_t rounds, double& sink);

}  // namespace ratchet::worker
