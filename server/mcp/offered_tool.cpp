#include <utility>

#include "server/core/background_call.h"
#include "server/mcp/catalogue.h"
#include "server/mcp/features.h"
#include "server/mcp/interaction.h"
#include "server/mcp/tasks.h"
#include "server/mcp/tool_result.h"

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

OfferedTool offered(Tool tool) {
  const auto shared = std::make_shared<const Tool>(std::move(tool));
  return {.name = shared->info.name,
          .effect = shared->info.effect,
          .input_schema = {shared, &shared->input_schema},
          .entry = [shared] { return entry_of(*shared); },
          .call = [shared](const Json& arguments, Interaction& interaction) -> Outcome {
            ToolAnswer answer = shared->call(arguments, interaction.call());
            if (answer.job) {
              const bool as_task = interaction.takes_tasks();
              answer.job->detach(as_task ? BackgroundCall::Questions::kept : BackgroundCall::Questions::refused);
              if (as_task) return task_created(*answer.job);
            }
            return tool_result(std::move(answer));
          }};
}

std::vector<OfferedTool> offered(std::vector<Tool> tools) {
  std::vector<OfferedTool> all;
  all.reserve(tools.size());
  for (auto& tool : tools) all.push_back(offered(std::move(tool)));
  return all;
}

}  // namespace ratchet::mcp
