// ratchet-confine WRITABLE READABLE... -- PROGRAM ARGUMENT...
//
// Runs a compiler that can read only the named files and folders and write only to WRITABLE and to
// devices, so that a source can include or assemble nothing else. If the kernel has no Landlock,
// the program runs unrestricted.

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "kernels/worker/landlock.h"

int main(int count, char** arguments) {
  const std::vector<char*> all(arguments, arguments + count);
  const auto bar = std::ranges::find(all, std::string_view("--"),
                                     [](const char* text) { return std::string_view(text); });
  const auto named = bar - all.begin();
  if (named < 2 || all.end() - bar < 2) {
    std::fputs("ratchet-confine is started by ratchet, not by hand\n", stderr);
    return 2;
  }
  const ratchet::worker::FileAccess access{{all.begin() + 2, bar}, {arguments[1], "/dev"}};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) (void)ratchet::worker::restrict_files(access);
  ::execvp(arguments[named + 1], arguments + named + 1);
  std::perror(arguments[named + 1]);
  return 127;
}
