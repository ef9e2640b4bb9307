#include "kernels/build/compiler_run.h"

#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "server/core/files.h"

#include "tests/support/temp_folder.h"

using namespace ratchet;

namespace {

std::vector<std::string> shell(std::string script) {
  return {"sh", "-c", std::move(script)};
}

/// A plan of shell scripts in place of compilers, run as if processors were free.
CompilerRun run(const BuildPlan& plan, const test::TempFolder& folder, unsigned processors = 8) {
  WarmCompiler warm;
  auto ran = run_compiler(plan, folder.path(), std::chrono::seconds(20), {}, warm, {}, processors);
  REQUIRE(ran);
  return *std::move(ran);
}

bool there(const test::TempFolder& folder, const char* name) {
  return std::filesystem::exists(folder / name);
}

}  // namespace

TEST_CASE("errors of the device-only check end a build early", "[compiler_run]") {
  const test::TempFolder folder;
  BuildPlan plan;
  plan.arguments = shell("sleep 15; touch built");
  plan.check = shell("echo 'k.cu(3): error: no' >&2; exit 1");
  const auto ran = run(plan, folder);

  CHECK(ran.output.err.find("k.cu(3)") != std::string::npos);
  CHECK_FALSE(ran.output.status.clean());
  CHECK_FALSE(there(folder, "built"));
}

TEST_CASE("a check that passes or is slow changes nothing", "[compiler_run]") {
  const test::TempFolder folder;
  BuildPlan plan;
  plan.arguments = shell("echo built >&2");
  for (const auto* check : {"exit 0", "sleep 15; exit 1"}) {
    plan.check = shell(check);
    const auto ran = run(plan, folder);
    CHECK(ran.output.status.clean());
    CHECK(ran.output.err == "built\n");
  }
  plan.check = shell("touch checked; exit 1");
  CHECK(run(plan, folder, 2).output.status.clean());
  CHECK_FALSE(there(folder, "checked"));
}

TEST_CASE("sources that the fast compiler refuses go to the other one", "[compiler_run]") {
  const test::TempFolder folder;
  BuildPlan plan;
  plan.file_name = "kernel.cu";
  std::ofstream(folder.path() / "kernel.cu") << "source\n";
  plan.fast = shell("exit 1");
  plan.arguments = shell("touch slow");
  plan.finish = {shell("touch finished")};
  CHECK_FALSE(run(plan, folder).fast);
  CHECK(there(folder, "slow"));
  CHECK(there(folder, "finished"));
  plan.fast = shell("tail -n 1");
  plan.arguments = shell("exit 1");
  CHECK(run(plan, folder).fast);
  CHECK(*read_file(folder.path() / "kernel.cubin") == "source\n");
}

TEST_CASE("a failed build runs no finishing steps", "[compiler_run]") {
  const test::TempFolder folder;
  BuildPlan plan;
  plan.arguments = shell("exit 3");
  plan.finish = {shell("touch finished")};
  CHECK(run(plan, folder).output.status.code == 3);
  CHECK_FALSE(there(folder, "finished"));
}
