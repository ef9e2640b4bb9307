#pragma once

#include <string>

#include "tests/kernels/confine/attacks/wall_attempts.h"

namespace ratchet::test {

/// The text of docs/walls.md: all probes, by family, with the walls that each stop them alone.
[[nodiscard]] std::string wall_table(const WallProbes& probes);

}  // namespace ratchet::test
