#pragma once

#include "server/core/background_call.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

// Background calls as tasks of the tasks extension (SEP-2663). A call and its task share one id;
// clients without the extension poll the call with run_status.

/// A CreateTaskResult: the answer to a call whose work continues.
[[nodiscard]] Json task_created(const BackgroundCall& job);

/// A DetailedTask: the status, and after the end the result that the call would have returned.
[[nodiscard]] Json task_details(const BackgroundCall& job);

/// The error for clients that did not declare the extension.
[[nodiscard]] RpcError tasks_not_declared();

}  // namespace ratchet::mcp
