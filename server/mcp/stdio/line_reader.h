#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::mcp {

/// Splits the input of a descriptor, which it does not own, into lines of at most `limit` bytes.
///
/// Thread rule: one thread at a time.
class LineReader {
 public:
  LineReader(int descriptor, int wake, std::size_t limit);

  enum class Event { line, too_long, end };
  /// The next line without its newline; blank lines are skipped. `too_long`, once, for a line
  /// beyond the limit, whose rest is skipped. `end` when the input ended or `wake` became readable.
  /// Blocks until one of these; the view is valid until the next call.
  [[nodiscard]] Event next(std::string_view& line);
  /// Whether a whole line is buffered.
  [[nodiscard]] bool has_line() const;

 private:
  [[nodiscard]] bool fill();

  const int descriptor_;
  const int wake_;
  const bool never_blocks_;
  const std::size_t limit_;
  std::vector<char> chunk_;
  std::string buffer_;
  std::size_t start_ = 0;    ///< first byte not yet returned
  std::size_t scanned_ = 0;  ///< bytes known to have no newline
  bool skipping_ = false;
};

}  // namespace ratchet::mcp
