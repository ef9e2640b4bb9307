#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ratchet {

/// Where control can go from one instruction of a function, by index.
struct Flow {
  bool falls_through = true;          ///< the next instruction may follow
  std::optional<std::size_t> target;  ///< of a branch inside the function
};

struct Loops {
  std::vector<int> depth;      ///< of every instruction; 0: not in a loop
  std::vector<int> innermost;  ///< the smallest loop around every instruction; -1: none
  int count = 0;
};

/// Finds the loops of a function: an instruction is in a loop if control can return to it. The
/// depth counts nested loops: strongly connected components of the control flow, each split at
/// the blocks where control enters it to find inner ones. This also classifies code that a compiler
/// moved past the function's end, which branch distances alone would not. Depths beyond 32 count
/// as 32. Pure and thread-safe.
[[nodiscard]] Loops find_loops(const std::vector<Flow>& flow);

}  // namespace ratchet
