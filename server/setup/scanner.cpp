#include "server/setup/scanner.h"

#include <fmt/format.h>

#include <algorithm>

namespace ratchet::setup {

Error Cursor::wrong(const std::string& what, std::size_t at) const {
  const auto before = text_.substr(0, std::min(at, text_.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  // Characters, not bytes: the bytes within a UTF-8 character do not begin one.
  const auto column = std::ranges::count_if(
      before.substr(line_begin(text_, before.size())),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return invalid_argument(fmt::format("line {}, column {}: {}", line, column + 1, what));
}

std::size_t line_begin(std::string_view text, std::size_t at) {
  const auto end = text.substr(0, at).rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

std::string_view line_end_of(std::string_view text) {
  const auto end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

std::string with_line_ends(std::string text, std::string_view line_end) {
  if (line_end == "\n") return text;
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string(line_end) : std::string(1, c);
  return out;
}

}  // namespace ratchet::setup
