#include "server/core/bounded_json.h"

#include <fmt/format.h>

#include <cstddef>

namespace ratchet {
namespace {

constexpr std::size_t kMostLevels = 64;
constexpr std::size_t kMostValues = 200'000;

}  // namespace

Result<Json> bounded_json(std::string_view text) {
  std::size_t level = 0;
  std::size_t values = 1;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if (c == '[' || c == '{') ++level;
    if ((c == ']' || c == '}') && level > 0) --level;
    if (c == '[' || c == '{' || c == ',') ++values;
    if (level > kMostLevels)
      return Error{ErrorCode::too_large,
                   fmt::format("JSON nested deeper than {} levels", kMostLevels),
                   "Flatten it, or leave it out."};
    if (values > kMostValues)
      return Error{ErrorCode::too_large, fmt::format("JSON of more than {} values", kMostValues),
                   "Split it into several files or lines."};
  }
  auto json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return invalid_argument("not JSON, or truncated");
  return json;
}

}  // namespace ratchet
