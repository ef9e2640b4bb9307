#include "kbs/query/cursor.h"

#include <fmt/format.h>

#include <charconv>

#include "server/core/hash.h"

namespace ratchet::kbs {

std::string mark_of(std::string_view request) {
  return sha256_hex(request).substr(0, 8);
}

std::string write_cursor(std::size_t place, std::string_view mark) {
  return fmt::format("{}-{}", place, mark);
}

Result<std::size_t> read_cursor(const std::optional<std::string>& cursor, std::string_view mark) {
  if (!cursor) return std::size_t{0};
  std::size_t place = 0;
  const auto* end = cursor->data() + cursor->size();
  const auto [at, code] = std::from_chars(cursor->data(), end, place);
  const bool same = code == std::errc{} && at != end && *at == '-' &&
                    std::string_view(at + 1, static_cast<std::size_t>(end - at - 1)) == mark &&
                    place < std::size_t{1} << 31U;
  if (!same)
    return invalid_argument(
        "cursor: it belongs to another query, or the knowledge base has changed since",
        "Repeat the call without a cursor to start from the first page.");
  return place;
}

}  // namespace ratchet::kbs
