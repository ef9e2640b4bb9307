#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::mcp {

/// Cuts a descriptor's bytes into lines, at most `limit` bytes each. Not owned.
///
/// Thread rule: one thread at a time.
class LineReader {
 public:
  LineReader(int descriptor, int wake, std::size_t limit);

  enum class Event { line, too_long, end };
  /// The next line without its newline; blank lines are passed over. `too_long` once for a line
  /// beyond the limit, whose rest is skipped. `end` when the input ended or `wake` became readable.
  /// Waits when no line is at hand; the view holds until the next call.
  [[nodiscard]] Event next(std::string_view& line);
  /// Whether a whole line is at hand without reading.
  [[nodiscard]] bool has_line() const;

 private:
  [[nodiscard]] bool fill();

  const int descriptor_;
  const int wake_;
  const bool never_blocks_;
  const std::size_t limit_;
  std::vector<char> chunk_;
  std::string buffer_;
  std::size_t start_ = 0;    ///< first byte not yet given out
  std::size_t scanned_ = 0;  ///< bytes known to hold no newline
  bool skipping_ = false;
};

}  // namespace ratchet::mcp
