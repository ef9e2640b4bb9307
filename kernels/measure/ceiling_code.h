#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ratchet::measure {

/// A kernel that keeps one kind of arithmetic unit busy, as PTX for one chip.
///
/// Entry `ratchet_roof(u32 turns, u64 sink)`, one-dimensional. Operands are random bits that are
/// finite numbers: a unit fed with zeros draws less power and clocks higher than any real work
/// lets it.
struct RoofKernel {
  std::string what;  ///< fp64, fp32, tf32, fp16, bf16, fp8, int8
  std::string unit;  ///< FLOP/s or OP/s
  std::string ptx;
  unsigned threads = 256;
  unsigned blocks_per_multiprocessor = 1;
  double operations = 0;  ///< of one thread block in one turn
};

/// The kernels for a chip of this compute capability (90 = 9.0): fused multiply-adds for fp64 and
/// fp32, `mma` for the tensor types and fp64, `wgmma` on 9.0, where `mma` reaches 60 % only.
///
/// A type that the chip lacks is left out, and so are the tensor types of 10.x: their full rate
/// needs tcgen05, and a roof that honest kernels beat would be worse than none. A type may come
/// twice; its roof is the better one. Pure.
[[nodiscard]] std::vector<RoofKernel> roof_kernels(int capability);

/// Reads of shared memory, in conflict-free vectors; same entry. `operations`: bytes.
[[nodiscard]] RoofKernel shared_memory_roof(int capability);

/// `ratchet_copy(u64 from, u64 to, u64 vectors)`: one 16-byte vector a thread, 256 threads a block.
[[nodiscard]] std::string copy_code(int capability);

}  // namespace ratchet::measure
