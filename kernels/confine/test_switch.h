#pragma once

#include <cstdlib>
#include <string_view>

namespace ratchet::confine {

/// Whether a test took this wall out, to see that a probe succeeds without it. Only in programs
/// that are built for tests: the variable RATCHET_TEST_WITHOUT lists walls, separated by commas.
[[nodiscard]] inline bool taken_out([[maybe_unused]] std::string_view wall) {
#ifdef RATCHET_WALLS_CAN_BE_TAKEN_OUT
  const char* variable = std::getenv("RATCHET_TEST_WITHOUT");
  std::string_view names = variable ? variable : "";
  while (!names.empty()) {
    const auto comma = names.find(',');
    if (names.substr(0, comma) == wall) return true;
    names = comma == std::string_view::npos ? "" : names.substr(comma + 1);
  }
#endif
  return false;
}

}  // namespace ratchet::confine
