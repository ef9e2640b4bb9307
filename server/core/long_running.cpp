#include "server/core/long_running.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ratchet {
namespace {

constexpr Rules kWait{.min = 0, .max = 3600};

/// The answer to a call whose work continues.
struct Ticket {
  std::string job;
  std::string next;
  std::optional<std::string> run;

  static constexpr void fields(auto&& visit) {
    visit(optional<&Ticket::job>(
              "Only when the work outlasts wait_s: id for run_status. Of the other fields only "
              "next and run are then present."),
          optional<&Ticket::next>("With job: what to do next."),
          optional<&Ticket::run>("With job: the run it works on."));
  }
};

/// `run` of the arguments if it is a string; the tool itself validates it.
std::string run_of(const Json& arguments) {
  if (!arguments.is_object()) return "";
  const auto run = arguments.find("run");
  return run != arguments.end() && run->is_string() ? run->get<std::string>() : "";
}

/// Removes a member from the arguments and returns it; null when it is absent.
Json taken(Json& arguments, const char* name) {
  if (!arguments.is_object()) return nullptr;
  const auto found = arguments.find(name);
  if (found == arguments.end()) return nullptr;
  Json value = std::move(*found);
  arguments.erase(found);
  return value;
}

ToolAnswer answer_of(const Json& structured) {
  return {structured, readable_text(structured), false};
}

ToolAnswer ticket_for(const std::shared_ptr<BackgroundCall>& background, const std::string& tool) {
  Ticket ticket{
      .job = background->id(),
      .next = fmt::format("{} continues. Call run_status with job={}; cancel_job ends it.", tool,
                          background->id())};
  if (!background->run_id().empty()) ticket.run = background->run_id();
  ToolAnswer answer = answer_of(encode(ticket));
  answer.job = background;
  return answer;
}

ToolAnswer call_with_limit(const Tool& inner, BackgroundCalls& calls, std::chrono::seconds limit,
                           const Json& given, CallContext& call) {
  Json arguments = given;
  auto wait = std::chrono::duration<double>(limit);
  if (const Json asked = taken(arguments, "wait_s"); !asked.is_null()) {
    auto seconds = decode<double>(asked, Place{"wait_s"}, kWait);
    if (!seconds) return error_answer(seconds.error());
    wait = std::chrono::duration<double>(*seconds);
  }
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait);
  const std::string run = run_of(arguments);
  auto background = calls.start(inner.info.name, run,
                                [work = inner.call, arguments = std::move(arguments)](
                                    CallContext& own) { return work(arguments, own); });
  if (!background) return error_answer(background.error());
  if ((*background)->wait(call, until)) return *(*background)->answer();
  if (call.canceled()) {
    (*background)->cancel();
    return error_answer({ErrorCode::timed_out, inner.info.name + " was canceled"});
  }
  calls.keep(*background);
  return ticket_for(*background, inner.info.name);
}

/// The run that a job works on, or that it created.
std::string run_of(const CallSnapshot& job) {
  return job.run ? *job.run : run_of(job.answer.value_or(Json()));
}

/// A job without what it answered.
std::string job_text(Json job) {
  job.erase("answer");
  return readable_text(Json{{"job", std::move(job)}});
}

ToolAnswer status_with_jobs(const Tool& inner, BackgroundCalls& calls, const Json& given,
                            CallContext& call) {
  Json arguments = given;
  const Json id = taken(arguments, "job");
  if (id.is_null()) {
    ToolAnswer answer = inner.call(arguments, call);
    const auto background = calls.working_on(run_of(arguments));
    if (answer.is_error || !background) return answer;
    answer.structured["job"] = encode(background->snapshot());
    answer.text += job_text(answer.structured["job"]);
    return answer;
  }
  const auto name = decode<std::string>(id, Place{"job"}, Rules{.max_length = 100});
  if (!name) return error_answer(name.error());
  const auto background = calls.find(*name);
  if (!background) return error_answer(unknown_job(*name));
  const CallSnapshot job = background->snapshot();
  Json structured = Json::object();
  if (!arguments.contains("run") && !run_of(job).empty()) arguments["run"] = run_of(job);
  if (arguments.contains("run")) {
    ToolAnswer status = inner.call(arguments, call);
    if (status.is_error && given.contains("run")) return status;
    if (!status.is_error) structured = std::move(status.structured);
  }
  structured["job"] = encode(job);
  // Its answer tells the state of the run as well.
  std::string text = job_text(structured["job"]);
  if (const auto ended = background->answer(); ended && !ended->is_error) text += ended->text;
  return {std::move(structured), std::move(text), false};
}

bool requires_run(const Json& schema) {
  const Json names = schema.value("required", Json::array());
  return std::ranges::find(names, "run") != names.end();
}

}  // namespace

Tool long_running(Tool tool, BackgroundCalls& calls, std::chrono::seconds wait) {
  Tool wrapped{tool.info, tool.input_schema, tool.output_schema, {}, true};
  Json& limit = wrapped.input_schema["properties"]["wait_s"];
  // In every long tool, so brief; the limits are in the refusal.
  limit = {
      {"type", "number"}, {"default", wait.count()}, {"description", "Seconds, then a job id."}};
  const Json ticket = schema_of<Ticket>();
  for (const auto& [name, property] : ticket["properties"].items())
    wrapped.output_schema["properties"].emplace(name, property);
  // A ticket names the run that the arguments name.
  if (requires_run(tool.input_schema) && requires_run(tool.output_schema))
    wrapped.output_schema["required"] = Json::array({"run"});
  else
    wrapped.output_schema.erase("required");
  wrapped.call = [inner = std::move(tool), &calls, wait](const Json& arguments, CallContext& call) {
    return call_with_limit(inner, calls, wait, arguments, call);
  };
  return wrapped;
}

Tool reporting_jobs(Tool status, BackgroundCalls& calls) {
  Tool wrapped{status.info, status.input_schema, status.output_schema, {}};
  wrapped.input_schema.erase("required");
  wrapped.input_schema["properties"]["job"] = {
      {"type", "string"}, {"description", "Job id: its progress, and its answer once done."}};
  wrapped.output_schema.erase("required");
  Json& job = wrapped.output_schema["properties"]["job"];
  job = schema_of<CallSnapshot>();
  job["description"] = "The job asked for, or the one working on the run now.";
  wrapped.call = [inner = std::move(status), &calls](const Json& arguments, CallContext& call) {
    return status_with_jobs(inner, calls, arguments, call);
  };
  return wrapped;
}

}  // namespace ratchet
