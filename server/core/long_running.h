#pragma once

#include <chrono>

#include "server/core/background_calls.h"
#include "server/core/tool.h"

namespace ratchet {

/// Makes a tool one whose calls end in time: it takes `wait_s`, and when its work outlasts that it
/// answers `job` and goes on. A caller that cancels while it waits ends the work; one that got the
/// job's id does not.
///
/// `run` among the arguments binds the job to that run. Of the output, only what is there for every
/// answer stays required: nothing. `jobs` outlives the tool.
[[nodiscard]] Tool long_running(Tool tool, Jobs& jobs,
                                std::chrono::seconds wait = std::chrono::seconds(45));

/// Makes `status`, a tool that takes `run`, one that takes `job` as well and answers how it stands,
/// with its answer once it is done; `run` may then be left out. A job that works on the run asked
/// for is told of without being asked for. `jobs` outlives the tool.
[[nodiscard]] Tool reporting_jobs(Tool status, Jobs& jobs);

}  // namespace ratchet
