#pragma once

#include <filesystem>
#include <vector>

#include "kbs/knowledge.h"
#include "kernels/lab.h"
#include "server/core/background_calls.h"
#include "server/runs/runs.h"

namespace ratchet {

/// What the tools use. The objects outlive every tool; main owns them.
struct Services {
  Lab& lab;
  Runs& runs;
  Knowledge& knowledge;
  BackgroundCalls& jobs;                     ///< runs the calls that take long
  std::vector<std::filesystem::path> roots;  ///< folders from which callers may read files
};

}  // namespace ratchet
