#include "server/core/long_running.h"

#include <catch2/catch_test_macros.hpp>
#include <future>
#include <stdexcept>

namespace ratchet {
namespace {

using namespace std::chrono_literals;

/// A tool whose work waits until it is let go or cancelled.
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

  explicit Slow(Jobs& jobs) : tool(long_running(make(), jobs)) {}

  void let_go() { gate_.set_value(); }
  /// Whether the work saw its cancellation; waits for its end.
  bool was_cancelled() { return cancelled_.get_future().get(); }
  ToolAnswer call(Json arguments, CallContext call = {}) { return tool.call(arguments, call); }

 private:
  Tool make() {
    return make_tool<Args, Out>(
        {.name = "measure", .effect = Effect::uses_device},
        [this](const Args&, CallContext& call) -> Result<Out> {
          call.progress(1, 4, "sampling");
          while (open_.wait_for(1ms) != std::future_status::ready && !call.cancelled()) {
          }
          if (!call.cancelled()) return Out{"measured"};
          cancelled_.set_value(true);
          return Error{ErrorCode::timed_out, "cancelled", ""};
        });
  }

  std::promise<void> gate_;
  std::shared_future<void> open_{gate_.get_future()};
  std::promise<bool> cancelled_;

 public:
  Tool tool;
};

/// A `run_status` over these jobs.
ToolAnswer status(Jobs& jobs, const Json& arguments) {
  const Tool tool =
      reporting_jobs(make_tool<Slow::Args, Slow::Out>(
                         {.name = "run_status"},
                         [](const Slow::Args& args, CallContext&) -> Result<Slow::Out> {
                           if (args.run == "none")
                             return Error{ErrorCode::not_found, "no such run", ""};
                           return Slow::Out{"stands well"};
                         }),
                     jobs);
  CallContext call;
  return tool.call(arguments, call);
}

/// Waits for the end of a job as a caller would.
void await(const std::shared_ptr<Job>& job) {
  CallContext call;
  REQUIRE(job->attend(call, std::chrono::steady_clock::now() + 10s));
}

TEST_CASE("work that ends in time is answered as by the tool itself", "[jobs]") {
  Jobs jobs;
  Slow slow(jobs);
  slow.let_go();

  const auto answer = slow.call({{"run", "r"}});

  CHECK(answer.structured == Json{{"said", "measured"}});
  CHECK(answer.job == nullptr);
}

TEST_CASE("work that outlasts its wait answers a job and ends without its caller", "[jobs]") {
  Jobs jobs;
  Slow slow(jobs);

  const auto left = slow.call({{"wait_s", 0}});

  REQUIRE(left.job);
  CHECK(left.structured.at("job") == left.job->id());
  CHECK(left.text.find("run_status with job") != std::string::npos);
  CHECK(status(jobs, {{"job", left.job->id()}}).structured.at("job").at("state") == "working");
  slow.let_go();
  await(left.job);
  for (int again = 0; again < 2; ++again) {
    const Json job = status(jobs, {{"job", left.job->id()}}).structured.at("job");
    CHECK(job.at("state") == "completed");
    CHECK(job.at("answer") == Json{{"said", "measured"}});
    CHECK(job.at("done") == 1);
    CHECK(job.at("message") == "sampling");
  }
}

TEST_CASE("cancelling a call that waits ends its work", "[jobs]") {
  Jobs jobs;
  Slow slow(jobs);
  std::stop_source client;
  std::promise<void> working;
  CallContext call([&](double, std::optional<double>, std::string_view) { client.request_stop(); },
                   client.get_token());

  const auto answer = slow.tool.call({{"run", "r"}}, call);

  CHECK(answer.is_error);
  CHECK(answer.job == nullptr);
  CHECK(slow.was_cancelled());
}

TEST_CASE("cancelling a call that became a job leaves the job alone", "[jobs]") {
  Jobs jobs;
  Slow slow(jobs);
  std::stop_source client;
  CallContext call({}, client.get_token());
  const auto left = slow.tool.call({{"wait_s", 0}}, call);

  client.request_stop();

  slow.let_go();
  await(left.job);
  CHECK(left.job->view().state == JobState::completed);
}

TEST_CASE("one job works on a run, and others are told which", "[jobs]") {
  Jobs jobs;
  Slow first(jobs);
  Slow second(jobs);
  Slow elsewhere(jobs);
  const auto left = first.call({{"run", "a"}, {"wait_s", 0}});
  elsewhere.let_go();

  const auto refused = second.call({{"run", "a"}});

  CHECK(refused.is_error);
  CHECK(refused.text.starts_with("conflict: run: a is busy: measure works on it as " +
                                 left.job->id()));
  CHECK(elsewhere.call({{"run", "b"}}).structured == Json{{"said", "measured"}});
  CHECK(status(jobs, {{"run", "a"}}).structured.at("job").at("id") == left.job->id());
  first.let_go();
  await(left.job);
  second.let_go();
  CHECK_FALSE(second.call({{"run", "a"}}).is_error);
  CHECK_FALSE(status(jobs, {{"run", "a"}}).structured.contains("job"));
}

TEST_CASE("a status names the run of its job, and refuses ids that it does not know", "[jobs]") {
  Jobs jobs;
  Slow slow(jobs);
  const auto left = slow.call({{"run", "a"}, {"wait_s", 0}});

  CHECK(status(jobs, {{"job", left.job->id()}}).structured.at("said") == "stands well");
  const auto unknown = status(jobs, {{"job", "job-00"}});
  CHECK(unknown.text.starts_with("not_found: job: there is no job job-00\n"));
  CHECK(status(jobs, {{"job", 7}}).text.starts_with("invalid_argument: job: "));
  CHECK(status(jobs, {{"job", left.job->id()}, {"run", "none"}}).is_error);
  slow.let_go();
  await(left.job);
}

TEST_CASE("a wait that is no number of seconds is refused and nothing starts", "[jobs]") {
  Jobs jobs;
  Slow slow(jobs);

  for (const Json& wait : {Json("soon"), Json(-1), Json(1e9)}) {
    INFO(wait);
    const auto answer = slow.call({{"run", "a"}, {"wait_s", wait}});
    CHECK(answer.text.starts_with("invalid_argument: wait_s: "));
  }
  slow.let_go();
  CHECK_FALSE(slow.call({{"run", "a"}}).is_error);
}

TEST_CASE("the schemas of a long tool show its wait and its job", "[jobs]") {
  Jobs jobs;
  Slow slow(jobs);

  const Json& wait = slow.tool.input_schema["properties"]["wait_s"];
  CHECK(wait["default"] == 45);
  CHECK(wait["minimum"] == 0);
  CHECK(slow.tool.output_schema["properties"].contains("job"));
  // An answer that holds only a job must be valid too.
  CHECK_FALSE(slow.tool.output_schema.contains("required"));
}

TEST_CASE("the end of the server ends what is at work", "[jobs]") {
  std::optional<Jobs> jobs(std::in_place);
  Slow slow(*jobs);
  const auto left = slow.call({{"wait_s", 0}});

  jobs.reset();

  CHECK(slow.was_cancelled());
  CHECK(left.job->view().state == JobState::cancelled);
}

TEST_CASE("of many kept jobs the oldest that ended are forgotten, never one at work", "[jobs]") {
  Jobs jobs(64, 2);
  Slow working(jobs);
  const auto still = working.call({{"run", "r0"}, {"wait_s", 0}});
  std::vector<std::string> ended;
  for (const char* run : {"r1", "r2", "r3"}) {
    Slow slow(jobs);
    const auto left = slow.call({{"run", run}, {"wait_s", 0}});
    slow.let_go();
    await(left.job);
    ended.push_back(left.job->id());
  }

  CHECK(jobs.find(still.job->id()));
  CHECK_FALSE(jobs.find(ended[0]));
  CHECK(status(jobs, {{"job", ended[0]}}).text.starts_with("not_found: job: there is no job"));
  CHECK(jobs.find(ended[2]));
  CHECK(jobs.working_on("r0") == still.job);
  still.job->cancel();
  CHECK(working.was_cancelled());
}

TEST_CASE("no more jobs work at once than allowed", "[jobs]") {
  Jobs jobs(1);
  Slow first(jobs);
  Slow second(jobs);
  const auto left = first.call({{"wait_s", 0}});

  CHECK(second.call({}).text.starts_with("unavailable: 1 jobs are at work already"));
  left.job->cancel();
  CHECK(first.was_cancelled());
}

}  // namespace
}  // namespace ratchet
