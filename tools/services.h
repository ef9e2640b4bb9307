#pragma once

#include <filesystem>
#include <vector>

#include "kbs/knowledge.h"
#include "kernels/lab.h"
#include "server/core/background_calls.h"
#include "server/runs/runs.h"

namespace ratchet {

/// What the tools work with. References outlive every tool; main owns the objects.
struct Services {
  Lab& lab;
  Runs& runs;
  Knowledge& knowledge;
  BackgroundCalls& jobs;                     ///< where calls that take long go on
  std::vector<std::filesystem::path> roots;  ///< folders from which callers may name files
};

}  // namespace ratchet
