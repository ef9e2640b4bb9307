#pragma once

#include <string>
#include <vector>

namespace ratchet::measure {

/// A kernel that saturates one kind of arithmetic unit, as PTX for one chip.
///
/// Entry `ratchet_roof(u32 turns, u64 sink)`, one-dimensional. Operands are random finite numbers:
/// a unit fed with zeros draws less power and clocks higher than under most real work. What it
/// reaches then is a roof of its own, "bf16_of_zeros", which only physics is held against.
struct RoofKernel {
  std::string what;  ///< fp64, fp32, fp16_pairs, tf32, fp16, bf16, fp8, int8; bf16_of_zeros, …
  std::string unit;  ///< FLOP/s or OP/s
  std::string ptx;
  unsigned threads = 256;
  unsigned blocks_per_multiprocessor = 1;
  double operations = 0;  ///< per thread block and turn
};

/// The kernels for a chip of this compute capability (90 = 9.0): fused multiply-adds for fp64,
/// fp32, and pairs of fp16; `mma` for the tensor types and fp64, `wgmma` on 9.0, where `mma`
/// reaches only 60 %.
///
/// Types that the chip lacks are omitted, and so are the tensor types of 10.x: their full rate
/// needs tcgen05, and a ceiling that real kernels exceed would be worse than none. A type may occur
/// twice; the better rate is its ceiling. Pure.
[[nodiscard]] std::vector<RoofKernel> roof_kernels(int capability);

/// Conflict-free vector reads of shared memory; same entry. `operations` counts bytes.
[[nodiscard]] RoofKernel shared_memory_roof(int capability);

/// `ratchet_copy(u64 from, u64 to, u64 vectors)`: one 16-byte vector per thread, 256 threads per
/// block.
[[nodiscard]] std::string copy_code(int capability);

}  // namespace ratchet::measure
