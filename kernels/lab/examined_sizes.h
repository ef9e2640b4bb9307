#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "server/facts/contract.h"

namespace ratchet {

/// The cases of an examination. The last `edges` of them are run once.
struct ExaminedSizes {
  std::vector<Case> cases;
  std::size_t edges = 0;
  bool check_follows = false;  ///< of the same kernel, nobody knows when
};

/// Those of every check of a run: the given ones, and hidden ones that follow from its secret. Pure
/// and thread-safe.
[[nodiscard]] ExaminedSizes sizes_to_check(const Contract& contract, std::string_view run_secret);

}  // namespace ratchet
