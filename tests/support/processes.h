#pragma once

#include <sys/types.h>
#include <sys/wait.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>

namespace ratchet::test {

/// Kills a child and waits until it is dead. It stays to be reaped.
inline void kill_child(pid_t child) {
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
}

}  // namespace ratchet::test
