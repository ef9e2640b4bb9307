#include "server/core/clock.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace ratchet {

std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(time);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%FT%T", &parts);
  return fmt::format("{}.{:03}Z", text.data(), whole.time_since_epoch().count() % 1000);
}

}  // namespace ratchet
