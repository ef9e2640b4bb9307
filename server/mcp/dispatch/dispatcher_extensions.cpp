// Methods of the extensions: tasks (SEP-2663) and skills (SEP-2640).

#include <algorithm>
#include <string>
#include <utility>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/features/confirmation.h"
#include "server/mcp/features/tasks.h"

namespace ratchet::mcp {

Json Dispatcher::extensions() const {
  Json all = Json::object();
  if (options_.jobs) all[std::string(extension::kTasks)] = Json::object();
  if (!options_.skills.empty()) all[std::string(extension::kSkills)] = Json::object();
  return all;
}

std::variant<std::shared_ptr<BackgroundCall>, RpcError> Dispatcher::task_of(
    const Request& request) const {
  if (!request.declares(extension::kTasks)) return tasks_not_declared();
  auto id = string_param(request.message.params, "taskId");
  if (auto* error = std::get_if<RpcError>(&id)) return std::move(*error);
  auto job = options_.jobs->find(std::get<std::string>(id));
  if (!job) return RpcError{code::kInvalidParams, "Unknown task: " + std::get<std::string>(id), {}};
  return job;
}

Dispatcher::Answer Dispatcher::get_task(Request& request, const std::stop_token&) {
  const auto task = task_of(request);
  if (const auto* error = std::get_if<RpcError>(&task)) return *error;
  Json result = task_details(*std::get<std::shared_ptr<BackgroundCall>>(task));
  identity_.finish(result, request.era);
  return result;
}

Dispatcher::Answer Dispatcher::update_task(Request& request, const std::stop_token&) {
  const auto task = task_of(request);
  if (const auto* error = std::get_if<RpcError>(&task)) return *error;
  const auto given = request.message.params.find("inputResponses");
  if (given == request.message.params.end() || !given->is_object())
    return RpcError{code::kInvalidParams, "params.inputResponses must be an object", {}};
  for (const auto& [key, response] : given->items())
    std::get<std::shared_ptr<BackgroundCall>>(task)->reply(key, consent_of(response));
  Json result = Json::object();
  identity_.finish(result, request.era);
  return result;
}

Dispatcher::Answer Dispatcher::cancel_task(Request& request, const std::stop_token&) {
  const auto task = task_of(request);
  if (const auto* error = std::get_if<RpcError>(&task)) return *error;
  std::get<std::shared_ptr<BackgroundCall>>(task)->cancel();
  Json result = Json::object();
  identity_.finish(result, request.era);
  return result;
}

Dispatcher::Answer Dispatcher::list_skills(Request& request, const std::stop_token&) {
  return page_of(skills_, request);
}

Dispatcher::Answer Dispatcher::get_skill(Request& request, const std::stop_token&) {
  auto given = string_param(request.message.params, "uri");
  if (auto* error = std::get_if<RpcError>(&given)) return std::move(*error);
  const auto& uri = std::get<std::string>(given);
  const auto skill = std::ranges::find(options_.skills, uri, &Skill::uri);
  if (skill == options_.skills.end())
    return RpcError{code::kInvalidParams, "Unknown skill: " + uri, {}};
  Json result{{"skill", entry_of(*skill)}};
  identity_.finish(result, request.era, kStatic);
  return result;
}

}  // namespace ratchet::mcp
