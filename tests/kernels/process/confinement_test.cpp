// How a program that is started behind walls ended: for want of memory, or of itself.

#include "kernels/process/confinement.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "kernels/process/control_group.h"

namespace ratchet {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLittleMemory = std::size_t{64} << 20U;

ConfinedRun confined_shell(const std::string& script, const Confinement& walls = {},
                           std::chrono::milliseconds limit = 30s) {
  auto run = run_confined(
      {.argv = {"/bin/sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}}, walls, limit);
  REQUIRE(run);
  return *std::move(run);
}

TEST_CASE("a program that is killed was short of memory, one that fails was not", "[groups]") {
  CHECK(confined_shell("kill -9 $$").starved);

  CHECK_FALSE(confined_shell("true").starved);
  CHECK_FALSE(confined_shell("exit 1").starved);
  CHECK_FALSE(confined_shell("kill -11 $$").starved);
  const auto late = confined_shell("sleep 30", {}, 200ms);  // killed by us
  CHECK(late.timed_out);
  CHECK_FALSE(late.starved);
}

TEST_CASE("a group tells that a pass ran out of memory, whatever its driver returns", "[groups]") {
  if (const auto group = ControlGroup::make({}); !group || !group->limits_memory())
    SKIP(ControlGroup::description());
  const Confinement walls{.program = {}, .memory_bytes = kLittleMemory};
  const auto pass = [&](const std::string& mebi) {
    return confined_shell(
        "head -c " + mebi + "M /dev/zero | tail -c " + mebi + "M >/dev/null; exit 1", walls);
  };
  const auto beyond = pass("300");
  const auto within = pass("8");

  CHECK(beyond.starved);
  CHECK(beyond.memory_bytes == kLittleMemory);
  CHECK_FALSE(within.starved);
  CHECK(within.status.code == 1);
}

}  // namespace
}  // namespace ratchet
