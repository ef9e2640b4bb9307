#pragma once

#include "kernels/lab.h"
#include "server/core/tool.h"
#include "server/runs/runs.h"

namespace ratchet {

/// Counts and records the time that the tool's calls on a run hold labs, and so that the run's
/// budget ends them. After a call that failed because the run's lab was lost for good, an equal lab
/// takes the run over, or the answer says why none can. `runs` and `lab` outlive the tool.
[[nodiscard]] Tool on_labs(Tool tool, Runs& runs, Lab& lab);

}  // namespace ratchet
