// ratchet-confine ROLE FOLDER READABLE... -- PROGRAM ARGUMENT...
//
// Runs a compiler or a reader of foreign files behind its walls: it can read only the system's and
// the named files, and write only to FOLDER ("" for none), so that a source can include or assemble
// nothing else.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "kernels/confine/walls.h"

int main(int count, char** arguments) {
  const std::vector<char*> all(arguments, arguments + count);
  const auto bar = std::ranges::find(all, std::string_view("--"),
                                     [](const char* text) { return std::string_view(text); });
  const auto named = bar - all.begin();
  const auto role = count > 1 ? ratchet::confine::parse_role(arguments[1]) : std::nullopt;
  if (!role || named < 3 || all.end() - bar < 2) {
    std::fputs("ratchet-confine is started by ratchet, not by hand\n", stderr);
    return 2;
  }
  ratchet::confine::Walls walls(*role, ratchet::DeviceKind::host, {all.begin() + 3, bar},
                                arguments[2]);
  walls.enter();
  walls.seal();
  if (const auto lacking = walls.lacking(); !lacking.empty()) {
    std::fprintf(stderr, "%s\n", lacking.c_str());
    return 126;
  }
  ::execvp(arguments[named + 1], arguments + named + 1);
  std::perror(arguments[named + 1]);
  return 127;
}
