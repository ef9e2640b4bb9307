#include "kernels/process/control_group.h"

#include <fcntl.h>
#include <signal.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::size_t kMebi = std::size_t{1} << 20U;

ControlGroup group_of(const GroupLimits& limits) {
  auto group = ControlGroup::make(limits);
  if (!group) SKIP(ControlGroup::description());
  return *std::move(group);
}

/// A shell script, started as a worker is: it enters the group before anything of it runs.
Captured run_within(const ControlGroup& group, const std::string& script) {
  auto ended = run_program({.argv = {"/bin/sh", "-c", script},
                            .environment = {"PATH=/usr/bin:/bin"},
                            .joins = group.doors()},
                           30s, {});
  REQUIRE(ended);
  return *std::move(ended);
}

/// What a controller of the group that the caller is in says: its file of version 2, or of 1.
std::string setting(const std::string& groups, const std::string& controller,
                    const std::string& file, const std::string& first_version) {
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const auto path = line.substr(line.find(':', 2) + 1);
    const bool unified = line.starts_with("0::");
    if (!unified && line.find(":" + controller + ":") == std::string::npos) continue;
    const fs::path mount = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    std::ifstream value(mount / fs::path(path).relative_path() / (unified ? file : first_version));
    std::string word;
    if (value >> word) return word;
  }
  return "none";
}

TEST_CASE("a control group holds the limits that were asked for", "[groups]") {
  const auto group = group_of({.memory_bytes = 64 * kMebi, .processes = 40, .weight = 50});
  const auto said = run_within(group, "cat /proc/self/cgroup").out;

  CHECK(setting(said, "memory", "memory.max", "memory.limit_in_bytes") == "67108864");
  CHECK(setting(said, "pids", "pids.max", "pids.max") == "40");
  const auto weight = setting(said, "cpu", "cpu.weight", "cpu.shares");
  INFO(weight);
  CHECK((weight == "50" || weight == "512"));
}

TEST_CASE("memory beyond a group's limit ends the process, and the group tells", "[groups]") {
  const auto group = group_of({.memory_bytes = 64 * kMebi});

  const auto within = run_within(group, "dd if=/dev/zero of=/dev/null bs=16M count=1");
  CHECK(within.status.clean());
  CHECK_FALSE(group.ran_out_of_memory());

  const auto beyond = run_within(group, "dd if=/dev/zero of=/dev/null bs=256M count=1");
  CHECK_FALSE(beyond.status.clean());
  CHECK(group.ran_out_of_memory());
}

TEST_CASE("a group has no more processes than its limit", "[groups]") {
  const std::string ten = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1 & done; wait; echo all";
  const auto narrow = group_of({.processes = 5});
  CHECK(run_within(narrow, ten).out.find("all") == std::string::npos);

  const auto wide = group_of({.processes = 40});
  CHECK(run_within(wide, ten).out.find("all") != std::string::npos);
}

TEST_CASE("what is left in a group ends with it, in whatever session it is", "[groups]") {
  pid_t left = 0;
  {
    const auto group = group_of({});
    // What has not left the script's session yet would end with the script.
    left = std::stoi(run_within(group,
                                "setsid sleep 600 >/dev/null 2>&1 & "
                                "until [ \"$(cut -d' ' -f6 /proc/$!/stat)\" = $! ]; do :; done; "
                                "echo $!")
                         .out);
    CHECK(::kill(left, 0) == 0);
  }
  for (int i = 0; i < 100 && ::kill(left, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  std::ifstream state("/proc/" + std::to_string(left) + "/stat");
  std::string number, name, letter;
  CHECK((!(state >> number >> name >> letter) || letter == "Z"));
}

TEST_CASE("another server that starts leaves a group without processes alone", "[groups]") {
  const auto group = group_of({.processes = 40});
  const test::TempFolder home;
  const auto other =
      run_program({.argv = {(test::build_dir() / "bin/ratchet").string(), "doctor"},
                   .environment = {"PATH=/usr/bin:/bin", "HOME=" + home.path().string()}},
                  60s);
  REQUIRE(other);

  CHECK(setting(run_within(group, "cat /proc/self/cgroup").out, "pids", "pids.max", "pids.max") ==
        "40");
}

TEST_CASE("a program does not start outside a group that is gone", "[groups]") {
  const Fd nowhere(::open("/dev/full", O_WRONLY | O_CLOEXEC));  // no group can be entered there
  REQUIRE(nowhere);

  CHECK_FALSE(run_program({.argv = {"/bin/true"}, .joins = {nowhere.get()}}, 30s));
}

}  // namespace
}  // namespace ratchet
