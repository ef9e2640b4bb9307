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
Captured drive(const fs::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{"python3",
                                 (source_dir() / "examples/drive.py").string(),
                                 (source_dir() / "examples/layer_norm_host/plan.json").string(),
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
