#include "server/core/long_running.h"

#include <fmt/format.h>

#include <utility>

namespace ratchet {
namespace {

constexpr Rules kWait{.min = 0, .max = 3600};

/// What a call answers whose work goes on.
struct HandedOver {
  std::string job;
  std::string next;

  static constexpr void fields(auto&& visit) {
    visit(required("job", &HandedOver::job,
                   "Instead of all else, when the work outlasts wait_s: id for run_status."),
          required("next", &HandedOver::next, "With job: what to do now."));
  }
};

/// `run` of the arguments, as far as it is a string; the tool itself checks it.
std::string run_of(const Json& arguments) {
  if (!arguments.is_object()) return "";
  const auto run = arguments.find("run");
  return run != arguments.end() && run->is_string() ? run->get<std::string>() : "";
}

/// Takes a member out of the arguments; null when it is not there.
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

ToolAnswer handed_over(const std::shared_ptr<Job>& job, const std::string& tool) {
  const std::string next =
      fmt::format("{} goes on. Call run_status with job={}; cancel_job ends it.", tool, job->id());
  ToolAnswer answer = answer_of(encode(HandedOver{job->id(), next}));
  answer.job = job;
  return answer;
}

ToolAnswer call_with_patience(const Tool& inner, Jobs& jobs, std::chrono::seconds patience,
                              const Json& given, CallContext& call) {
  Json arguments = given;
  auto wait = std::chrono::duration<double>(patience);
  if (const Json asked = taken(arguments, "wait_s"); !asked.is_null()) {
    auto seconds = decode<double>(asked, Place{"wait_s"}, kWait);
    if (!seconds) return error_answer(seconds.error());
    wait = std::chrono::duration<double>(*seconds);
  }
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait);
  const std::string run = run_of(arguments);
  auto job = jobs.start(inner.info.name, run,
                        [work = inner.call, arguments = std::move(arguments)](CallContext& own) {
                          return work(arguments, own);
                        });
  if (!job) return error_answer(job.error());
  if ((*job)->attend(call, until)) return *(*job)->answer();
  if (call.cancelled()) {
    (*job)->cancel();
    return error_answer({ErrorCode::timed_out, inner.info.name + " was cancelled", ""});
  }
  jobs.keep(*job);
  return handed_over(*job, inner.info.name);
}

/// The run that a job works on, or that it has made.
std::string run_of(const JobView& job) {
  return job.run ? *job.run : run_of(job.answer.value_or(Json()));
}

ToolAnswer status_with_jobs(const Tool& inner, Jobs& jobs, const Json& given, CallContext& call) {
  Json arguments = given;
  const Json id = taken(arguments, "job");
  if (id.is_null()) {
    ToolAnswer answer = inner.call(arguments, call);
    const auto job = jobs.working_on(run_of(arguments));
    if (answer.is_error || !job) return answer;
    answer.structured["job"] = encode(job->view());
    return answer_of(answer.structured);
  }
  const auto name = decode<std::string>(id, Place{"job"}, Rules{.max_length = 100});
  if (!name) return error_answer(name.error());
  const auto job = jobs.find(*name);
  if (!job) return error_answer(unknown_job(*name));
  const JobView view = job->view();
  Json structured = Json::object();
  if (!arguments.contains("run") && !run_of(view).empty()) arguments["run"] = run_of(view);
  if (arguments.contains("run")) {
    ToolAnswer status = inner.call(arguments, call);
    if (status.is_error && given.contains("run")) return status;
    if (!status.is_error) structured = std::move(status.structured);
  }
  structured["job"] = encode(view);
  return answer_of(structured);
}

}  // namespace

Tool long_running(Tool tool, Jobs& jobs, std::chrono::seconds wait) {
  Tool longer{tool.info, tool.input_schema, tool.output_schema, {}};
  Json& waits = longer.input_schema["properties"]["wait_s"];
  waits = Codec<double>::schema(kWait);
  waits["default"] = wait.count();
  waits["description"] = "Seconds to wait for the answer; then a job id is answered.";
  longer.output_schema.erase("required");
  longer.output_schema["properties"].update(schema_of<HandedOver>()["properties"]);
  longer.call = [inner = std::move(tool), &jobs, wait](const Json& arguments, CallContext& call) {
    return call_with_patience(inner, jobs, wait, arguments, call);
  };
  return longer;
}

Tool reporting_jobs(Tool status, Jobs& jobs) {
  Tool wider{status.info, status.input_schema, status.output_schema, {}};
  wider.input_schema.erase("required");
  wider.input_schema["properties"]["job"] = {
      {"type", "string"}, {"description", "Or a job id: its progress, and its answer once done."}};
  wider.output_schema.erase("required");
  Json& job = wider.output_schema["properties"]["job"];
  job = schema_of<JobView>();
  job["description"] = "The job asked for, or the one that works on the run now.";
  wider.call = [inner = std::move(status), &jobs](const Json& arguments, CallContext& call) {
    return status_with_jobs(inner, jobs, arguments, call);
  };
  return wider;
}

}  // namespace ratchet
