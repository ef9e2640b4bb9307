#pragma once

#include <string>
#include <vector>

#include "tests/kernels/confine/attacks/wall_attempts.h"

namespace ratchet::test {

/// A source of tests/attacks/walls/compiler.
struct BuildProbe {
  std::string name;
  std::string way;
  std::string walls;
  std::vector<std::string> flags;
  std::string text;
};

[[nodiscard]] std::vector<BuildProbe> build_probes();

/// Builds the source as a kernel; the attack worked if what it was after is in the messages or in
/// the library. `confined`: as the server does; else without ratchet-confine.
[[nodiscard]] WallAttempt built_attempt(const WallPlace& place, const BuildProbe& probe,
                                        bool confined);

}  // namespace ratchet::test
