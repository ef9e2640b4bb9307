#pragma once

#include <vector>

#include "server/core/fields.h"

namespace ratchet {

/// What follows a job right away, on the same contract, as far as its caller knows: a lab may start
/// processes for it meanwhile, and end those of the job later. Nothing depends on whether it comes.
struct Ahead {
  int checks = 0;          ///< on the same lab, of other candidates; 1 also stands for more
  std::vector<int> races;  ///< on the same lab; the entrants of each, at most
  bool others = false;     ///< something that needs none of the lab's processes

  [[nodiscard]] bool any() const { return checks > 0 || !races.empty() || others; }

  static constexpr void fields(auto&& visit) {
    visit(optional<&Ahead::checks>(), optional<&Ahead::races>(), optional<&Ahead::others>());
  }
};

}  // namespace ratchet
