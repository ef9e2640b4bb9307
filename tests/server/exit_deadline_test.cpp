#include "server/exit_deadline.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <csignal>

namespace ratchet {
namespace {

using namespace std::chrono_literals;

/// Runs `body` in a process of its own. Returns its exit status, or -1 after a signal.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("a process that does not end is killed with its children", "[exit]") {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);

  const int status = in_child([&] {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (::fork() == 0) {
      ::setsid();  // out of reach of signals to the group
      while (true) ::pause();
    }
    const ExitDeadline deadline(20ms, 7);
    while (true) ::pause();
  });

  CHECK(status == 7);
  // All processes with the other end are gone.
  ::close(pipe[1]);
  char byte = 0;
  CHECK(::read(pipe[0], &byte, 1) == 0);
  ::close(pipe[0]);
}

TEST_CASE("a destroyed deadline kills nothing", "[exit]") {
  CHECK(in_child([] { const ExitDeadline deadline(1h, 7); }) == 0);
}

}  // namespace
}  // namespace ratchet
