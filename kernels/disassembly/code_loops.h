#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ratchet {

/// Where control goes from one instruction of a function, by index.
struct Flow {
  bool falls_through = true;          ///< the next instruction may follow
  std::optional<std::size_t> target;  ///< of a branch inside the function
};

struct Loops {
  std::vector<int> depth;  ///< of every instruction; 0: in no loop
  int count = 0;
};

/// The loops of a function: an instruction is in one when control can come back to it. The depth
/// counts the loops around it: strongly connected parts of the flow of control, each taken apart at
/// its entry for those inside. Code that a compiler moved behind the end of a function is told
/// right, which the distance of branches alone would not. Pure and thread-safe.
[[nodiscard]] Loops find_loops(const std::vector<Flow>& flow);

}  // namespace ratchet
