#include "server/core/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "server/core/files.h"
#include "tests/support/sanitized.h"
#include "tests/support/temp_folder.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

ProcessSpec shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin"}};
}

TEST_CASE("both outputs and the exit code of a program are captured", "[process]") {
  const auto captured = run_program(shell("echo out; echo err >&2; exit 3"), milliseconds(5000));

  REQUIRE(captured);
  CHECK(captured->out == "out\n");
  CHECK(captured->err == "err\n");
  CHECK(captured->status.code == 3);
  CHECK(captured->status.text() == "exit code 3");
}

TEST_CASE("the signal that ended a program is reported", "[process]") {
  const auto captured = run_program(shell("kill -SEGV $$"), milliseconds(5000));

  REQUIRE(captured);
  CHECK(captured->status.signal == SIGSEGV);
  CHECK_FALSE(captured->status.clean());
}

TEST_CASE("at its deadline a program is killed with its children", "[process]") {
  const test::TempFolder folder;
  const std::string pid_file = (folder / "pid").string();

  const auto captured =
      run_program(shell("sleep 60 & echo $! > " + pid_file + "; wait"), milliseconds(300));

  REQUIRE(captured);
  CHECK(captured->timed_out);
  const pid_t grandchild = std::stoi(*read_file(pid_file));
  // The kill is asynchronous; a killed process may remain a zombie until its new parent reaps it.
  const auto gone = [grandchild] {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string pid, name, state;
    return !(stat >> pid >> name >> state) || state == "Z";
  };
  for (int i = 0; i < 100 && !gone(); ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(gone());
}

TEST_CASE("a program runs on so many processors at most", "[process]") {
  const auto processors = [](std::optional<int> most) {
    auto spec = shell("nproc");
    spec.processors = most;
    const auto captured = run_program(spec, milliseconds(5000));
    REQUIRE(captured);
    return std::stoi(captured->out);
  };
  const int all = processors({});
  CHECK(processors(1) == 1);
  CHECK(processors(all + 1) == all);
}

TEST_CASE("excess output is truncated and marked as truncated", "[process]") {
  const auto captured =
      run_program(shell("head -c 1000000 /dev/zero"), milliseconds(5000), {}, 1000);

  REQUIRE(captured);
  CHECK(captured->truncated);
  CHECK(captured->out.size() == 1000);
  CHECK(captured->status.clean());
}

TEST_CASE("a missing program is an error, not a finding", "[process]") {
  const auto captured = run_program({.argv = {"no-such-program-here"}}, milliseconds(1000));

  REQUIRE_FALSE(captured);
  CHECK(captured.error().code == ErrorCode::unavailable);
}

TEST_CASE("a child inherits only the given descriptors and variables", "[process]") {
  const int leak = ::open("/dev/null", O_RDONLY);  // not close-on-exec: would be inherited
  ::setenv("RATCHET_TEST_SECRET", "x", 1);

  const auto captured =
      run_program(shell("ls /proc/self/fd | sort -n | tr '\\n' ' '; env"), milliseconds(5000));
  ::close(leak);

  REQUIRE(captured);
  // 0, 1, 2 and the descriptor with which ls reads the folder.
  CHECK(captured->out.substr(0, 8) == "0 1 2 3 ");
  CHECK(captured->out.find("RATCHET_TEST_SECRET") == std::string::npos);
}

TEST_CASE("a child gets the descriptors it was given, however many its parent has open",
          "[process]") {
  std::vector<Fd> open;
  // The numbers that pipes get move on by one each time, past those of earlier descriptors.
  while (open.empty() || open.back().get() < 260) {
    open.emplace_back(::open("/dev/null", O_RDONLY));
    REQUIRE(open.back());
    if (open.back().get() < 180) continue;
    INFO(open.back().get());
    const auto captured = run_program(shell("echo out; echo err >&2"), milliseconds(5000));
    REQUIRE(captured);
    CHECK(captured->out == "out\n");
    CHECK(captured->err == "err\n");
  }
}

TEST_CASE("a program that may open few files starts children", "[process]") {
  if (test::kSanitized) SKIP("the sanitizer opens files, too");
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const auto limited = [&](rlim_t most) {
    const rlimit limit{most, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    auto captured = run_program(shell("echo out"), milliseconds(5000));
    ::setrlimit(RLIMIT_NOFILE, &before);
    return captured;
  };
  const Fd next(::open("/dev/null", O_RDONLY));

  const auto enough = limited(static_cast<rlim_t>(next.get()) + 32);
  // Room for the pipes of its output, and for no more of what a child needs.
  const auto too_few = limited(static_cast<rlim_t>(next.get()) + 7);

  REQUIRE(enough);
  CHECK(enough->out == "out\n");
  REQUIRE_FALSE(too_few);
  CHECK(too_few.error().message.find("Too many open files") != std::string::npos);
}

TEST_CASE("what a killed program had started is reaped, too", "[process]") {
  // As a server does: orphans become its children.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  const test::TempFolder folder;
  const auto ready = folder.path() / "ready";
  {
    auto process =
        Process::spawn(shell("(sleep 60; :) & sleep 60 & echo > " + ready.string() + "; sleep 60"));
    REQUIRE(process);
    while (!std::filesystem::exists(ready)) std::this_thread::sleep_for(milliseconds(1));
  }

  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // there is no child, not even a dead one
  CHECK(::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0);
}

TEST_CASE("a canceled call ends its program", "[process]") {
  std::stop_source source;
  std::jthread canceller([&source] {
    std::this_thread::sleep_for(milliseconds(50));
    source.request_stop();
  });

  const auto start = std::chrono::steady_clock::now();
  const auto captured = run_program(shell("sleep 60"), milliseconds(60000), source.get_token());

  CHECK(captured.error().code == ErrorCode::timed_out);
  CHECK(std::chrono::steady_clock::now() - start < milliseconds(10000));
}

}  // namespace
}  // namespace ratchet
