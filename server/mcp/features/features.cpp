#include "server/mcp/features/features.h"

#include <memory>
#include <utility>

#include "server/core/background_call.h"
#include "server/mcp/features/catalog.h"
#include "server/mcp/features/interaction.h"
#include "server/mcp/features/tasks.h"
#include "server/mcp/features/tool_result.h"

namespace ratchet::mcp {

Json prompt_text(const std::string& description, const std::string& text) {
  Json result{{"messages",
               Json::array({{{"role", "user"}, {"content", {{"type", "text"}, {"text", text}}}}})}};
  if (!description.empty()) result["description"] = description;
  return result;
}

OfferedTool offered(Tool tool) {
  const auto shared = std::make_shared<const Tool>(std::move(tool));
  return {.name = shared->info.name,
          .effect = shared->info.effect,
          .only_waits = shared->only_waits,
          .input_schema = {shared, &shared->input_schema},
          .entry = [shared] { return entry_of(*shared); },
          .call = [shared](const Json& arguments, Interaction& interaction) -> Outcome {
            ToolAnswer answer = shared->call(arguments, interaction.call());
            if (answer.job) {
              const bool as_task = interaction.takes_tasks();
              answer.job->detach(as_task ? BackgroundCall::Questions::kept
                                         : BackgroundCall::Questions::refused);
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
