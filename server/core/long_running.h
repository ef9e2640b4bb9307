#pragma once

#include <chrono>

#include "server/core/background_calls.h"
#include "server/core/tool.h"

namespace ratchet {

/// Wraps a tool so that its calls return in time. It takes `wait_s`; when the work takes longer,
/// the answer is a ticket (`job`, `next`, and `run` where known) and the work continues. Canceling
/// a call that still waits ends its work; canceling one that got a ticket does not.
///
/// `run` among the arguments ties the work to that run. The output schema fits both the tool's
/// answer and the ticket without a combinator, which some clients reject: it requires only `run`,
/// where both always have it. `calls` outlives the tool.
[[nodiscard]] Tool long_running(Tool tool, BackgroundCalls& calls,
                                std::chrono::seconds wait = std::chrono::seconds(45));

/// Wraps `status`, a tool that takes `run`, so that it also takes `job` and answers that job's
/// progress, and its answer once it is done; `run` is then optional. Asked about a run, it reports
/// the job working on that run, if any. The output schema requires nothing: a job that belongs to
/// no run is answered alone. `calls` outlives the tool.
[[nodiscard]] Tool reporting_jobs(Tool status, BackgroundCalls& calls);

}  // namespace ratchet
