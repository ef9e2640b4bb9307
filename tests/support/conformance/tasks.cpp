// Fixture tools of the tasks extension: work that outlasts its call.

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "server/core/long_running.h"
#include "server/mcp/features/tasks.h"
#include "tests/support/conformance/fixtures.h"

namespace ratchet::test::conformance {
namespace {

struct ComputeArgs {
  double seconds = 0;
  std::string label;
  static constexpr void fields(auto&& visit) {
    visit(optional("seconds", &ComputeArgs::seconds, "How long.", {.min = 0, .max = 600}),
          optional("label", &ComputeArgs::label, "Comes back."));
  }
};

struct DeleteArgs {
  std::string filename;
  static constexpr void fields(auto&& visit) {
    visit(optional("filename", &DeleteArgs::filename, "What to delete."));
  }
};

struct TextAnswer {
  std::string text;
  static constexpr void fields(auto&& visit) {
    visit(required("text", &TextAnswer::text, "What came of it."));
  }
};

/// Returns false if the call was canceled meanwhile.
bool sleep_for(double seconds, const CallContext& call) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, call.stop(), std::chrono::duration<double>(seconds), [] { return false; });
  return !call.canceled();
}

Result<TextAnswer> compute(const ComputeArgs& args, CallContext& call) {
  if (!sleep_for(args.seconds, call)) return Error{ErrorCode::timed_out, "cancelled", ""};
  return TextAnswer{fmt::format("{} took {} s", args.label, args.seconds)};
}

Result<TextAnswer> confirm_delete(const DeleteArgs& args, CallContext& call) {
  if (call.confirm("Delete " + args.filename + "?") != Consent::granted)
    return Error{ErrorCode::not_permitted, "not confirmed", ""};
  return TextAnswer{args.filename + " deleted"};
}

/// Asks two questions at once.
Result<TextAnswer> ask_twice(const NoArgs&, CallContext& call) {
  Consent first = Consent::unavailable;
  std::thread other([&] { first = call.confirm("First?"); });
  const Consent second = call.confirm("Second?");
  other.join();
  return TextAnswer{first == second ? "the same answer twice" : "two answers"};
}

Result<TextAnswer> break_down(const NoArgs&, CallContext&) {
  throw std::runtime_error("this fixture always fails");
}

template <HasFields Args, class Handler>
Tool task_tool(const std::string& name, const std::string& summary, BackgroundCalls& jobs,
               Handler handler) {
  return long_running(make_tool<Args, TextAnswer>(
                          {.name = name, .summary = summary, .effect = Effect::writes}, handler),
                      jobs, std::chrono::seconds(0));
}

Outcome as_task(BackgroundCalls& jobs, const std::string& tool, const Interaction& interaction,
                BackgroundCall::Work work) {
  if (!interaction.client_can(extension::kTasks)) return tasks_not_declared();
  const auto job = jobs.start(tool, "", std::move(work));
  if (!job) return RpcError{code::kInternalError, job.error().message, {}};
  jobs.keep(*job);
  (*job)->detach(BackgroundCall::Questions::kept);
  return task_created(**job);
}

RawTool failing_job(BackgroundCalls& jobs) {
  return raw_tool("failing_job", "Fails as a task, and only as one.", Pace::interactive,
                  [&jobs](const Json&, Interaction& interaction) -> Outcome {
                    return as_task(jobs, "failing_job", interaction, [](CallContext& call) {
                      sleep_for(1, call);
                      return error_answer({ErrorCode::unavailable, "it never works", ""});
                    });
                  });
}

RawTool named_task(BackgroundCalls& jobs) {
  return raw_tool("test_tool_with_task", "Asks for a name, then works as a task.",
                  Pace::interactive, [&jobs](const Json&, Interaction& interaction) -> Outcome {
                    const auto question = form("What is your name?", "name", "string");
                    const Json name = entered(
                        interaction.ask("user_name", "elicitation/create", question), "name");
                    if (!name.is_string()) return text_result("waiting for the client");
                    return as_task(jobs, "test_tool_with_task", interaction,
                                   [text = "Hello, " + name.get<std::string>()](CallContext&) {
                                     return ToolAnswer{nullptr, text};
                                   });
                  });
}

}  // namespace

void add_task_tools(ServerOptions& options, std::vector<RawTool>& tools) {
  if (!options.jobs) options.jobs = std::make_shared<BackgroundCalls>();
  BackgroundCalls& jobs = *options.jobs;
  RawTool greet = raw_tool("greet", "Greets at once.", Pace::quick,
                           [](const Json& arguments, Interaction&) -> Outcome {
                             return text_result("Hello, " + arguments.value("name", "") + "!");
                           });
  greet.entry["inputSchema"]["properties"]["name"] = {{"type", "string"}};
  tools.push_back(std::move(greet));
  tools.push_back(failing_job(jobs));
  tools.push_back(named_task(jobs));
  options.tools.push_back(
      offered(task_tool<ComputeArgs>("slow_compute", "Sleeps.", jobs, compute)));
  options.tools.push_back(
      offered(task_tool<DeleteArgs>("confirm_delete", "Asks first.", jobs, confirm_delete)));
  options.tools.push_back(
      offered(task_tool<NoArgs>("multi_input", "Asks twice.", jobs, ask_twice)));
  options.tools.push_back(
      offered(task_tool<NoArgs>("protocol_error_job", "Breaks down.", jobs, break_down)));
}

}  // namespace ratchet::test::conformance
