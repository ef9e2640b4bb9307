#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "server/runs/lab_accounts.h"
#include "tests/support/workbench.h"
#include "tools/all.h"

using namespace ratchet;
using Catch::Matchers::ContainsSubstring;

namespace {

/// By a server that was started after the run was created.
std::string checked(const std::vector<Tool>& restarted, const std::string& run) {
  const auto tool = std::ranges::find(restarted, "check_correctness",
                                      [](const auto& one) { return one.info.name; });
  CallContext call;
  const auto answer = tool->call({{"run", run}, {"wait_s", 300}}, call);
  INFO(answer.text);
  REQUIRE_FALSE(answer.is_error);
  return answer.text;
}

Environment recorded(test::Workbench& bench, const std::string& run) {
  const auto on = bench.services().runs.labs().measured_on({run});
  REQUIRE(on);
  return on->environment;
}

}  // namespace

TEST_CASE("a run that goes on with another driver and compiler says so once", "[run]") {
  test::Workbench bench;
  const auto run = bench.start_run();
  const auto here = recorded(bench, run);
  // As the server finds it that was restarted after an upgrade; a GPU does not matter to this run.
  auto before = here;
  before.devices.front().driver = "5.4.0-1-older";
  std::ranges::find(before.tools, "g++", &ToolState::name)->version = "9.9.9";
  before.devices.push_back({DeviceKind::cuda, 0, "Abacus 9000", "sm_90", "", "570.1", 1, 1, 1, {}});
  REQUIRE(bench.services().runs.record_environment({run}, before));

  const auto restarted = all_tools(bench.services());
  const auto first = checked(restarted, run);

  CHECK_THAT(first, ContainsSubstring("this has changed: g++: 9.9.9, now "));
  CHECK_THAT(first, ContainsSubstring("; host device 0, driver: 5.4.0-1-older, now " +
                                      here.devices.front().driver));
  CHECK_THAT(first, !ContainsSubstring("Abacus"));
  CHECK(recorded(bench, run).devices.front().driver == here.devices.front().driver);
  CHECK_THAT(checked(restarted, run), !ContainsSubstring("has changed"));
}

TEST_CASE("a run on an unchanged machine hears nothing about it", "[run]") {
  test::Workbench bench;
  const auto run = bench.start_run();
  CHECK_THAT(checked(all_tools(bench.services()), run), !ContainsSubstring("has changed"));
}
