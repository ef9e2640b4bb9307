#pragma once

#include "server/core/background_call.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

// A job as a task of the tasks extension (SEP-2663). They are one thing under one id: clients that
// do not know the extension ask run_status for it.

/// A CreateTaskResult: the answer to a call whose work goes on.
[[nodiscard]] Json task_created(const BackgroundCall& job);

/// A DetailedTask: how it stands, with what the call would have answered once it ended.
[[nodiscard]] Json task_details(const BackgroundCall& job);

/// The error for clients that did not declare the extension.
[[nodiscard]] RpcError tasks_not_declared();

}  // namespace ratchet::mcp
