#pragma once

#include <chrono>
#include <string>

namespace ratchet {

[[nodiscard]] inline double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// ISO 8601 in UTC with milliseconds, as in answers and artifacts: "2026-01-31T12:00:00.123Z".
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point time);

[[nodiscard]] inline std::string utc_now() {
  return utc_text(std::chrono::system_clock::now());
}

}  // namespace ratchet
