#include "server/core/origin.h"

#include <cstddef>

#include "server/core/text.h"

namespace ratchet {
namespace {

/// The length of what a reader may see as the end of a line at the start of `text`; 0: nothing.
std::size_t line_end(std::string_view text) {
  if (text.starts_with("\r\n")) return 2;
  if (std::string_view("\n\r\v\f").find(text.front()) != std::string_view::npos) return 1;
  if (text.starts_with("\xC2\x85")) return 2;
  return starts_with_any(text, {"\xE2\x80\xA8", "\xE2\x80\xA9"}) ? 3 : 0;
}

}  // namespace

std::string fenced(std::string_view text, std::string_view margin) {
  std::string out;
  bool begins = true;
  while (begins || !text.empty()) {
    if (begins) out.append(margin).append(kFence);
    begins = false;
    if (text.empty()) break;
    const auto end = line_end(text);
    if (end == 0) out += text.front();
    text.remove_prefix(end == 0 ? 1 : end);
    if (end == 0 || text.empty()) continue;
    out += '\n';
    begins = true;
  }
  return out + "\n";
}

std::string behind_fence(std::string_view text) {
  auto lines = fenced(text);
  lines.pop_back();
  return lines.find('\n') == std::string::npos ? lines : "\n" + lines;
}

}  // namespace ratchet
