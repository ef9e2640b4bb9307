#include "kernels/build/warm_compiler.h"

#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "kernels/process/control_group.h"

using namespace ratchet;

namespace {

ProcessSpec shell_spec(const std::string& script) {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.environment = inherited_environment({"PATH"});
  return spec;
}

std::string said(WarmCompiler& warm, const std::string& script, const std::string& input) {
  auto ran = warm.run(shell_spec(script), input, std::chrono::seconds(20), {});
  REQUIRE(ran);
  CHECK(ran->status.clean());
  return ran->out;
}

}  // namespace

TEST_CASE("each job gets its own process, which was started before the job", "[warm]") {
  WarmCompiler warm;
  const std::string script = "echo $$; cat";

  const auto first = said(warm, script, "a");
  const auto second = said(warm, script, "b");

  CHECK(first.ends_with("a"));
  CHECK(second.ends_with("b"));
  CHECK(first.substr(0, first.find('\n')) != second.substr(0, second.find('\n')));
}

TEST_CASE("a different program is started anew", "[warm]") {
  WarmCompiler warm;
  CHECK(said(warm, "cat", "x") == "x");
  CHECK(said(warm, "tr a-z A-Z", "x") == "X");
}

TEST_CASE("a compiler that hangs is killed at its limit, and the next one works", "[warm]") {
  WarmCompiler warm;
  auto hung = warm.run(shell_spec("sleep 60"), "", std::chrono::milliseconds(50), {});
  REQUIRE(hung);
  CHECK(hung->timed_out);
  CHECK(said(warm, "cat", "on") == "on");
}

TEST_CASE("a program that exits before its job gives an error or an answer, never a signal",
          "[warm]") {
  WarmCompiler warm;
  for (int i = 0; i < 3; ++i) {
    auto gone =
        warm.run(shell_spec("exit 3"), std::string(1 << 20, 'x'), std::chrono::seconds(20), {});
    if (gone) CHECK(gone->status.code == 3);
  }
}

TEST_CASE("a compiler that waits for its job is in a control group", "[warm][groups]") {
  if (!ControlGroup::make({})) SKIP(ControlGroup::description());
  WarmCompiler warm;
  const auto ours = "/ratchet-" + std::to_string(::getpid()) + "-";

  for (const char* job : {"first", "started ahead"})
    CHECK(said(warm, "cat /proc/self/cgroup; cat", job).find(ours) != std::string::npos);
}
