#pragma once

#include <map>
#include <span>
#include <string>

#include "kernels/disassembly/machine_code.h"
#include "kernels/protocol/counters.h"

namespace ratchet {

/// What the sampled instructions of a host kernel do, as metrics in per cent of all samples:
///
///   samples                        how many there are; the others are missing without any
///   samples_in_kernel.pct, …       the kernel's own code; libm (math functions), memory (libc),
///                                  threads (OpenMP's runtime), python (the interpreter), blas,
///                                  libraries (any other)
///   hot_loops.pct                  in loops of the kernel
///   packed_arithmetic.pct          of the arithmetic in those loops, by vector instructions or on
///                                  integers that are loaded and stored, what is not scalar;
///                                  missing where there is none
///   indirect_loads.pct             in loops that load from addresses which they loaded
///   streaming.pct                  in packed loops that load and store at moving places as often
///   as
///                                  they calculate
///   strided_access.pct             in loops whose every turn touches another line, of which it
///                                  uses a part
///   dependency_chain.pct           in loops whose results wait for the turn before longer than the
///                                  instructions take
///   divisions.pct                  in loops where divisions or square roots take as long as all
///                                  instructions together
///   atomics.pct, branches.pct, math_calls.pct   in loops with locked instructions, jumps inside by
///                                  what the loop loaded, calls
///   thread_regions_in_loops        places in loops where OpenMP starts or joins threads (a count)
///
/// x86-64 only: for other code, only the shares of objects. Pure and thread-safe.
[[nodiscard]] std::map<std::string, double> hot_code_metrics(
    const wire::PcSamples& samples, std::span<const CodeFunction> functions);

/// What one turn of a loop does. Of straight instructions in order; branches inside are taken as
/// not taken.
struct LoopCode {
  int instructions = 0;
  int scalar = 0;  ///< arithmetic on one element: by vector instructions, or on stored integers
  int packed = 0;  ///< on several
  double dividing = 0;  ///< cycles that divisions and square roots take at least
  int atomics = 0, branches = 0, calls = 0;
  bool divides = false;  ///< as long as all instructions take
  bool streams = false;  ///< packed, and moves as much as it calculates
  bool indirect = false, strided = false, chained = false;
};
[[nodiscard]] LoopCode loop_code(std::span<const Instruction> body);

}  // namespace ratchet
