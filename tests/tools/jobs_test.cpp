// Long calls with real services: host kernels that outlast their wait.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

#include "kernels/process/descendants.h"
#include "tests/support/workbench.h"

namespace ratchet {
namespace {

constexpr auto kEndless =
    "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
    "  volatile int forever = 1;\n"
    "  while (forever) c[0] = a[0] + b[0] + static_cast<float>(n);\n"
    "}\n";

constexpr auto kReference =
    "extern \"C\" void reference(const float* a, const float* b, float* c, int n) {\n"
    "  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];\n"
    "}\n";

/// A run whose v0 never returns.
std::string endless_run(test::Workbench& bench) {
  const Json tensors = Json::parse(R"([
    {"name": "a", "dtype": "float32", "shape": ["n"], "role": "in"},
    {"name": "b", "dtype": "float32", "shape": ["n"], "role": "in"},
    {"name": "c", "dtype": "float32", "shape": ["n"], "role": "out"}])");
  return bench
      .must("create_run", {{"kernel", {{"text", kEndless}}},
                           {"reference", {{"text", kReference}}},
                           {"implementation", "host-cpp"},
                           {"dims", {{"n", 4096}}},
                           {"tensors", tensors},
                           {"any_size", false},
                           {"iterations", 1},
                           {"output_dir", (bench.folder() / "endless").string()}})
      .at("run");
}

/// Polls run_status until the job has ended.
Json outcome(test::Workbench& bench, const std::string& job) {
  while (true) {
    const Json status = bench.must("run_status", {{"job", job}});
    if (status.at("job").at("state") != "working") return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_CASE("a check that outlasts its wait continues and is recorded", "[jobs]") {
  test::Workbench bench;
  const std::string run = bench.start_run();

  const Json left = bench.must("check_correctness", {{"run", run}, {"wait_s", 0}});

  REQUIRE(left.contains("job"));
  CHECK_FALSE(left.contains("passed"));
  const Json status = outcome(bench, left.at("job"));
  CHECK(status.at("job").at("answer").at("passed") == true);
  CHECK(status.at("run") == run);  // the status of the job's run is included
  CHECK(status.at("stage") == "correct");
}

TEST_CASE("a job that creates a run reports the run once it exists", "[jobs]") {
  test::Workbench bench;

  const Json left = bench.must("create_run", {{"problem", "vector_add"},
                                              {"implementation", "host-cpp"},
                                              {"dims", {{"n", 4096}}},
                                              {"output_dir", (bench.folder() / "out").string()},
                                              {"wait_s", 0}});

  const Json status = outcome(bench, left.at("job"));
  CHECK(status.at("job").at("answer").at("run") == status.at("run"));
  CHECK(status.at("stage") == "built");
}

TEST_CASE("while a job works on a run, other steps of that run are refused", "[jobs]") {
  test::Workbench bench;
  const std::string run = endless_run(bench);
  const Json left = bench.must("check_correctness", {{"run", run}, {"wait_s", 0}});

  for (const char* tool : {"check_correctness", "profile_kernel", "benchmark"}) {
    const auto refused = bench.call(tool, {{"run", run}});
    INFO(tool << ": " << refused.text);
    CHECK(refused.text.starts_with("conflict: run: " + run + " is busy: check_correctness"));
  }
  CHECK(bench.must("run_status", {{"run", run}}).at("job").at("id") == left.at("job"));
  bench.must("cancel_job", {{"job", left.at("job")}});
}

TEST_CASE("a canceled job leaves no trace in the run and no process behind", "[jobs]") {
  test::Workbench bench;
  const std::string run = endless_run(bench);
  const Json left = bench.must("check_correctness", {{"run", run}, {"wait_s", 0}});

  const Json ended = bench.must("cancel_job", {{"job", left.at("job")}});

  CHECK(ended.at("state") == "cancelled");
  CHECK(descendants_of(::getpid()).empty());
  const Json status = bench.must("run_status", {{"run", run}});
  CHECK(status.at("stage") == "built");
  CHECK(status.at("versions").at(0).value("retries_used", 0) == 0);
  CHECK(bench.must("cancel_job", {{"job", left.at("job")}}).at("state") == "cancelled");
  CHECK(bench.call("cancel_job", {{"job", "job-0"}}).text.starts_with("not_found: "));
}

TEST_CASE("the end of the server ends its jobs and their workers", "[jobs]") {
  {
    test::Workbench bench;
    const std::string run = endless_run(bench);
    bench.must("check_correctness", {{"run", run}, {"wait_s", 0}});
    while (descendants_of(::getpid()).empty()) std::this_thread::yield();
  }

  CHECK(descendants_of(::getpid()).empty());
}

}  // namespace
}  // namespace ratchet
