#pragma once

#include <string>
#include <vector>

#include "server/core/units.h"

namespace ratchet {

/// What a recorded fact changed in the output directory of its run.
struct RunChange {
  RunId run;
  std::vector<std::string> paths;  ///< files written anew or removed, below the output directory
  bool list_changed = false;       ///< one of them is new or was removed
};

}  // namespace ratchet
