#include "server/core/long_running.h"

#include <catch2/catch_test_macros.hpp>
#include <future>
#include <thread>

namespace ratchet {
namespace {

using namespace std::chrono_literals;

/// A tool whose work blocks until it is released or canceled.
class Slow {
 public:
  struct Args {
    std::optional<std::string> run;
    static constexpr void fields(auto&& visit) { visit(optional("run", &Args::run, "Run id.")); }
  };
  struct Out {
    std::string said;
    static constexpr void fields(auto&& visit) { visit(required("said", &Out::said, "")); }
  };

  explicit Slow(BackgroundCalls& jobs) : tool(long_running(make(), jobs)) {}

  void release() { release_.set_value(); }
  /// Waits for the end of the work; true when it was canceled.
  bool was_canceled() { return canceled_.get_future().get(); }
  ToolAnswer call(Json arguments, CallContext call = {}) { return tool.call(arguments, call); }

 private:
  Tool make() {
    return make_tool<Args, Out>(
        {.name = "measure", .effect = Effect::uses_device},
        [this](const Args&, CallContext& call) -> Result<Out> {
          call.progress(1, 4, "sampling");
          while (released_.wait_for(1ms) != std::future_status::ready && !call.canceled()) {
          }
          if (!call.canceled()) return Out{"measured"};
          canceled_.set_value(true);
          return Error{ErrorCode::timed_out, "canceled", ""};
        });
  }

  std::promise<void> release_;
  std::shared_future<void> released_{release_.get_future()};
  std::promise<bool> canceled_;

 public:
  Tool tool;
};

/// Calls a `run_status` that knows these jobs.
ToolAnswer status(BackgroundCalls& jobs, const Json& arguments) {
  const Tool tool =
      reporting_jobs(make_tool<Slow::Args, Slow::Out>(
                         {.name = "run_status"},
                         [](const Slow::Args& args, CallContext&) -> Result<Slow::Out> {
                           if (args.run == "none")
                             return Error{ErrorCode::not_found, "no such run", ""};
                           return Slow::Out{"in good order"};
                         }),
                     jobs);
  CallContext call;
  return tool.call(arguments, call);
}

/// Waits until a job has ended.
void await(const std::shared_ptr<BackgroundCall>& job) {
  CallContext call;
  REQUIRE(job->wait(call, std::chrono::steady_clock::now() + 10s));
}

TEST_CASE("work that ends in time gets the answer of the tool itself", "[jobs]") {
  BackgroundCalls jobs;
  Slow slow(jobs);
  slow.release();

  const auto answer = slow.call({{"run", "r"}});

  CHECK(answer.structured == Json{{"said", "measured"}});
  CHECK(answer.job == nullptr);
}

TEST_CASE("work that outlasts its wait answers a ticket and continues without its caller",
          "[jobs]") {
  BackgroundCalls jobs;
  Slow slow(jobs);

  const auto ticket = slow.call({{"wait_s", 0}});

  REQUIRE(ticket.job);
  CHECK(ticket.structured.at("job") == ticket.job->id());
  CHECK(ticket.text.find("run_status with job") != std::string::npos);
  CHECK(status(jobs, {{"job", ticket.job->id()}}).structured.at("job").at("state") == "working");
  slow.release();
  await(ticket.job);
  for (int again = 0; again < 2; ++again) {
    const Json job = status(jobs, {{"job", ticket.job->id()}}).structured.at("job");
    CHECK(job.at("state") == "completed");
    CHECK(job.at("answer") == Json{{"said", "measured"}});
    CHECK(job.at("done") == 1);
    CHECK(job.at("message") == "sampling");
  }
}

TEST_CASE("canceling a call that waits ends its work", "[jobs]") {
  BackgroundCalls jobs;
  Slow slow(jobs);
  std::stop_source client;
  std::promise<void> working;
  CallContext call([&](double, std::optional<double>, std::string_view) { client.request_stop(); },
                   client.get_token());

  const auto answer = slow.tool.call({{"run", "r"}}, call);

  CHECK(answer.is_error);
  CHECK(answer.job == nullptr);
  CHECK(slow.was_canceled());
}

TEST_CASE("canceling a call that got a ticket does not end its work", "[jobs]") {
  BackgroundCalls jobs;
  Slow slow(jobs);
  std::stop_source client;
  CallContext call({}, client.get_token());
  const auto ticket = slow.tool.call({{"wait_s", 0}}, call);

  client.request_stop();

  slow.release();
  await(ticket.job);
  CHECK(ticket.job->snapshot().state == CallState::completed);
}

TEST_CASE("a second job on the same run is refused and told which job is working on it", "[jobs]") {
  BackgroundCalls jobs;
  Slow first(jobs);
  Slow second(jobs);
  Slow elsewhere(jobs);
  const auto ticket = first.call({{"run", "a"}, {"wait_s", 0}});
  elsewhere.release();

  const auto refused = second.call({{"run", "a"}});

  CHECK(refused.is_error);
  CHECK(refused.text.starts_with("conflict: run: a is busy: measure is working on it as " +
                                 ticket.job->id()));
  CHECK(elsewhere.call({{"run", "b"}}).structured == Json{{"said", "measured"}});
  CHECK(status(jobs, {{"run", "a"}}).structured.at("job").at("id") == ticket.job->id());
  first.release();
  await(ticket.job);
  second.release();
  CHECK_FALSE(second.call({{"run", "a"}}).is_error);
  CHECK_FALSE(status(jobs, {{"run", "a"}}).structured.contains("job"));
}

TEST_CASE("run_status reports the run of a job and refuses unknown job ids", "[jobs]") {
  BackgroundCalls jobs;
  Slow slow(jobs);
  const auto ticket = slow.call({{"run", "a"}, {"wait_s", 0}});

  CHECK(status(jobs, {{"job", ticket.job->id()}}).structured.at("said") == "in good order");
  const auto unknown = status(jobs, {{"job", "job-00"}});
  CHECK(unknown.text.starts_with("not_found: job: there is no job job-00\n"));
  CHECK(status(jobs, {{"job", 7}}).text.starts_with("invalid_argument: job: "));
  CHECK(status(jobs, {{"job", ticket.job->id()}, {"run", "none"}}).is_error);
  slow.release();
  await(ticket.job);
}

TEST_CASE("an invalid wait_s is refused and nothing starts", "[jobs]") {
  BackgroundCalls jobs;
  Slow slow(jobs);

  for (const Json& wait : {Json("soon"), Json(-1), Json(1e9)}) {
    INFO(wait);
    const auto answer = slow.call({{"run", "a"}, {"wait_s", wait}});
    CHECK(answer.text.starts_with("invalid_argument: wait_s: "));
  }
  slow.release();
  CHECK_FALSE(slow.call({{"run", "a"}}).is_error);
}

TEST_CASE("the schemas of a long-running tool show wait_s and the ticket", "[jobs]") {
  BackgroundCalls jobs;
  Slow slow(jobs);

  const Json& wait = slow.tool.input_schema["properties"]["wait_s"];
  CHECK(wait["default"] == 45);
  for (const char* field : {"job", "next", "run"})
    CHECK(slow.tool.output_schema["properties"].contains(field));
  // A ticket must be valid too.
  CHECK_FALSE(slow.tool.output_schema.contains("required"));
}

struct OnRun {
  RunId run;
  static constexpr void fields(auto&& visit) { visit(required("run", &OnRun::run, "Run id.")); }
};

TEST_CASE("an answer about the run of the arguments keeps its required run", "[jobs]") {
  BackgroundCalls jobs;
  const Tool tool = long_running(make_tool<OnRun, OnRun>({.name = "measure"},
                                                         [](const OnRun& args, CallContext& call) {
                                                           while (!call.canceled())
                                                             std::this_thread::yield();
                                                           return Result<OnRun>(args);
                                                         }),
                                 jobs);
  CallContext call;

  const auto ticket = tool.call({{"run", "a"}, {"wait_s", 0}}, call);

  CHECK(tool.output_schema["required"] == Json::array({"run"}));
  CHECK(tool.output_schema["properties"]["run"]["description"] == "Run id.");
  CHECK(ticket.structured.at("run") == "a");
}

TEST_CASE("the end of the server ends all work", "[jobs]") {
  std::optional<BackgroundCalls> jobs(std::in_place);
  Slow slow(*jobs);
  const auto ticket = slow.call({{"wait_s", 0}});

  jobs.reset();

  CHECK(slow.was_canceled());
  CHECK(ticket.job->snapshot().state == CallState::canceled);
}

TEST_CASE("beyond the limit the oldest ended jobs are dropped, never one at work", "[jobs]") {
  BackgroundCalls jobs(64, 2);
  Slow working(jobs);
  const auto still = working.call({{"run", "r0"}, {"wait_s", 0}});
  std::vector<std::string> ended;
  for (const char* run : {"r1", "r2", "r3"}) {
    Slow slow(jobs);
    const auto ticket = slow.call({{"run", run}, {"wait_s", 0}});
    slow.release();
    await(ticket.job);
    ended.push_back(ticket.job->id());
  }

  CHECK(jobs.find(still.job->id()));
  CHECK_FALSE(jobs.find(ended[0]));
  CHECK(status(jobs, {{"job", ended[0]}}).text.starts_with("not_found: job: there is no job"));
  CHECK(jobs.find(ended[2]));
  CHECK(jobs.working_on("r0") == still.job);
  still.job->cancel();
  CHECK(working.was_canceled());
}

TEST_CASE("no more jobs run at once than allowed", "[jobs]") {
  BackgroundCalls jobs(1);
  Slow first(jobs);
  Slow second(jobs);
  const auto ticket = first.call({{"wait_s", 0}});

  CHECK(second.call({}).text.starts_with("unavailable: 1 jobs are already running"));
  ticket.job->cancel();
  CHECK(first.was_canceled());
}

}  // namespace
}  // namespace ratchet
