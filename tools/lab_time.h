#pragma once

#include "server/core/tool.h"
#include "server/runs/runs.h"

namespace ratchet {

/// Counts and records the time that the tool's calls on a run hold labs, and so that the run's
/// budget ends them. `runs` outlives the tool.
[[nodiscard]] Tool counting_lab_time(Tool tool, Runs& runs);

}  // namespace ratchet
