#include "server/mcp/features/tasks.h"

#include "server/mcp/features/confirmation.h"
#include "server/mcp/features/tool_result.h"

namespace ratchet::mcp {
namespace {

constexpr int kPollIntervalMs = 1000;

Json task_of(const CallSnapshot& job) {
  Json task{{"taskId", job.id},
            {"status", name_of(job.state)},
            {"createdAt", job.started},
            {"lastUpdatedAt", job.changed},
            {"ttlMs", nullptr},  // no time limit
            {"pollIntervalMs", kPollIntervalMs}};
  if (job.message) task["statusMessage"] = *job.message;
  return task;
}

Json questions_of(const BackgroundCall& job) {
  Json requests = Json::object();
  for (const auto& [key, text] : job.questions())
    requests[key] = {{"method", "elicitation/create"}, {"params", confirmation_form(text)}};
  return requests;
}

}  // namespace

Json task_created(const BackgroundCall& job) {
  Json task = task_of(job.snapshot());
  // The job may have ended already; tasks/get returns its result.
  task["status"] = name_of(CallState::working);
  task["resultType"] = "task";
  return task;
}

Json task_details(const BackgroundCall& job) {
  const CallSnapshot view = job.snapshot();
  Json task = task_of(view);
  switch (view.state) {
    case CallState::input_required:
      task["inputRequests"] = questions_of(job);
      break;
    case CallState::completed:
      task["result"] = tool_result(*job.answer());
      break;
    case CallState::failed:
      task["error"] = {{"code", code::kInternalError}, {"message", "Internal error"}};
      break;
    case CallState::working:
    case CallState::canceled:
      break;
  }
  return task;
}

RpcError tasks_not_declared() {
  return {code::kMissingCapability,
          "The request needs an extension that the client did not declare",
          {{"requiredCapabilities",
            {{"extensions", {{std::string(extension::kTasks), Json::object()}}}}}}};
}

}  // namespace ratchet::mcp
