// How a program that is started behind walls ended: for want of memory, or of itself.

#include "kernels/process/confinement.h"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "kernels/process/control_group.h"
#include "server/core/files.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kOneMebi = std::size_t{1} << 20U;
constexpr std::size_t kLittleMemory = 64 * kOneMebi;

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

/// As on a machine that lets the server make no control groups.
ConfinedRun counted(const std::vector<std::string>& argv, const GroupLimits& limits) {
  auto run = run_counted({.argv = argv, .environment = {"PATH=/usr/bin:/bin"}}, 60s, {}, kOneMebi,
                         limits, nullptr);
  REQUIRE(run);
  return *std::move(run);
}

TEST_CASE("without a group the server counts what a program and all that it starts use",
          "[groups]") {
  // Each holds 40 MiB until its input ends: no process alone is beyond 64 MiB.
  const auto held = [](const std::string& seconds) {
    return "(head -c 40M /dev/zero; sleep " + seconds + ") | tail -c 40M >/dev/null &";
  };
  const auto shell = [](const std::string& script, const GroupLimits& limits) {
    return counted({"/bin/sh", "-c", script + " wait"}, limits);
  };
  const auto together = shell(held("60") + held("60"), {.memory_bytes = kLittleMemory});
  const auto many = shell("sleep 60 & sleep 60 & sleep 60 &", {.processes = 2});
  const auto alone = shell(held("0.6"), {.memory_bytes = kLittleMemory, .processes = 4});

  CHECK(together.starved);
  CHECK(together.memory_bytes == kLittleMemory);
  CHECK(together.ending().ends_with("bytes of memory; 67108864 are allowed"));
  CHECK_FALSE(many.starved);
  CHECK(many.ending() == "started 3 processes; 2 are allowed");
  CHECK(alone.status.clean());
}

TEST_CASE("without a group a source that explodes ends its compiler, a heavy one does not",
          "[groups][slow]") {
  const test::TempFolder folder;
  const auto compiled = [&](const std::string& text) {
    const auto source = folder / "kernel.cpp";
    REQUIRE(write_file(source, text));
    return counted({"g++", "-std=c++20", "-fsyntax-only", source.string()},
                   {.memory_bytes = 400 * kOneMebi});
  };
  // 10^7 numbers from 9 lines; the parser alone needs gigabytes for them.
  std::string table = "1,";
  for (int i = 0; i < 7; ++i) table = "TEN(" + table + ")";
  const auto exploding = compiled(
      "#define TWO(...) __VA_ARGS__ __VA_ARGS__\n"
      "#define TEN(...) TWO(TWO(__VA_ARGS__) TWO(__VA_ARGS__)) TWO(__VA_ARGS__)\n"
      "int table[] = {" +
      table + "};\n");
  const auto heavy = compiled("#include <regex>\nstd::regex words(\"[a-z]+\");\n");

  CHECK(exploding.starved);
  CHECK(exploding.excess);
  CHECK(heavy.status.clean());
}

}  // namespace
}  // namespace ratchet
