#pragma once

#include <string>

#include "kernels/lab.h"
#include "server/core/tool.h"
#include "server/facts/lab_state.h"
#include "server/runs/runs.h"

namespace ratchet {

/// Counts and records the time that the tool's calls on a run hold labs, and so that the run's
/// budget ends them. After a call that failed because the run's lab was lost for good, an equal lab
/// takes the run over, or the answer says why none can. `runs` and `lab` outlive the tool.
[[nodiscard]] Tool on_labs(Tool tool, Runs& runs, Lab& lab);

/// What the answer says when lab `to` has taken a run over: in what it was found equal.
[[nodiscard]] std::string taken_over_text(const MeasuredOn& from, const std::string& to);

}  // namespace ratchet
