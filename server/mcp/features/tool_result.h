#pragma once

#include "server/core/tool.h"
#include "server/mcp/message/protocol.h"

namespace ratchet::mcp {

/// A tool's answer as a CallToolResult.
[[nodiscard]] Json tool_result(ToolAnswer answer);

}  // namespace ratchet::mcp
