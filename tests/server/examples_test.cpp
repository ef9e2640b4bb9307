// The driver of examples/ with the built server: a complete run on the CPU, and a refusal.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// The driver's output and exit status.
Captured drive(const fs::path& folder, const std::vector<std::string>& more,
               const fs::path& plan = source_dir() / "examples/layer_norm_host/plan.json") {
  std::vector<std::string> words{"python3",
                                 (source_dir() / "examples/drive.py").string(),
                                 plan.string(),
                                 "--ratchet",
                                 (build_dir() / "bin/ratchet").string(),
                                 "--output",
                                 (folder / "out").string(),
                                 "--state-dir",
                                 (folder / "state").string()};
  words.insert(words.end(), more.begin(), more.end());
  auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"});
  environment.push_back("HOME=" + folder.string());
  environment.emplace_back("PYTHONDONTWRITEBYTECODE=1");
  auto done = run_program({.argv = words, .environment = environment}, 500s);
  REQUIRE(done);
  return *std::move(done);
}

TEST_CASE("the example driver takes a plan from create_run to the report", "[examples][slow]") {
  if (!find_program("python3")) SKIP("python3 is not installed");
  const TempFolder folder;
  const auto done = drive(folder.path(), {});
  INFO(done.out << done.err);

  REQUIRE(done.status.clean());
  for (const char* step : {"explore_branches", "ablate", "tune_dispatch", "benchmark",
                           "write_report", "integrity: intact"})
    CHECK(done.out.find(step) != std::string::npos);
  for (const char* file : {"final_report.md", "summary.md", "report.html", "ledgers/lineage.jsonl",
                           "v1/attribution.json", "benchmarks/performance-map.json"})
    CHECK(fs::exists(folder / "out" / file));
}

TEST_CASE("the example driver goes on with the plan's next kernel when one is wrong",
          "[examples][slow]") {
  if (!find_program("python3")) SKIP("python3 is not installed");
  const TempFolder folder;
  const auto file = [&](const char* name, const char* text) {
    REQUIRE(write_file(folder.path() / name, text));
  };
  file("sum.cpp", R"(extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = sum;
  }
})");
  file("ref.cpp", R"(extern "C" void reference(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = sum;
  }
})");
  file("short.cpp", R"(extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c + 1 < cols; ++c) sum += x[r * cols + c];
    y[r] = sum;
  }
})");
  file("four.cpp", R"(extern "C" void solve(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    float sum[4] = {};
    int c = 0;
    for (; c + 4 <= cols; c += 4)
      for (int i = 0; i < 4; ++i) sum[i] += x[r * cols + c + i];
    for (; c < cols; ++c) sum[0] += x[r * cols + c];
    y[r] = sum[0] + sum[1] + sum[2] + sum[3];
  }
})");
  // v0's query for the bottleneck is its finding's: one core adds in one chain. `sum.cpp` again is
  // a copy of the parent, which the server does not take.
  file("plan.json", R"({
  "create_run": {"kernel": "sum.cpp", "reference": "ref.cpp", "implementation": "host-cpp",
    "dims": {"rows": 512, "cols": 2048},
    "tensors": [{"name": "x", "dtype": "float32", "shape": ["rows", "cols"], "role": "in"},
                {"name": "y", "dtype": "float32", "shape": ["rows"], "role": "out"}],
    "work": {"bytes": "4 * rows * cols + 4 * rows", "flops": "rows * cols"}},
  "versions": [
    {"queries": {"kernel": "CPU row reduction"},
     "applies_because": "The sum waits for every addition.",
     "decision_link": "One chain of additions, so several sums side by side.",
     "hypothesis": {"category": "compute", "change": "Four sums.", "rationale": "Shorter chains.",
       "expected": [{"metric": "median_ns", "direction": "down"}], "risk": "Order of the sums.",
       "accept_if": "speedup >= 1.1", "reject_if": "speedup < 1"}},
    {"submit": ["short.cpp", "sum.cpp", "four.cpp"], "ablate": ["compute.loop_unroll"],
     "queries": {"kernel": "CPU row reduction", "bottleneck": "host memory bandwidth"},
     "applies_because": "It is a sum of rows.", "decision_link": "Nothing further."}],
  "retrospective": "A test."})");
  const auto done = drive(folder.path(), {}, folder.path() / "plan.json");
  INFO(done.out << done.err);

  REQUIRE(done.status.clean());
  const auto at = [&](const char* text) { return done.out.find(text); };
  CHECK(at("passed: False") < at("short.cpp: "));
  CHECK(at("short.cpp: ") < at("submit_kernel: "));
  CHECK(at("submit_kernel: ") != std::string::npos);
  CHECK(at("; headroom ") != std::string::npos);
  CHECK(at("ablate") == std::string::npos);  // the kernel has no such switch
  CHECK(fs::exists(folder.path() / "out/final_report.md"));
}

TEST_CASE("the example driver prints what the server refused", "[examples]") {
  if (!find_program("python3")) SKIP("python3 is not installed");
  const TempFolder folder;
  const auto done = drive(folder.path(), {"--resume", "nothing-00000000"});
  INFO(done.out << done.err);

  CHECK(done.status.code == 1);
  CHECK(done.err.find("drive.py: run_status: ") != std::string::npos);
}

}  // namespace
}  // namespace ratchet::test
