#include "server/mcp/features/tool_result.h"

#include <utility>

namespace ratchet::mcp {

Json tool_result(ToolAnswer answer) {
  Json text{{"type", "text"}, {"text", std::move(answer.text)}};
  Json result{{"content", Json::array({std::move(text)})}};
  if (answer.is_error)
    result["isError"] = true;
  else if (!answer.structured.is_null())
    result["structuredContent"] = std::move(answer.structured);
  return result;
}

}  // namespace ratchet::mcp
