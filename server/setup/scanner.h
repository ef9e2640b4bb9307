#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/core/result.h"

namespace ratchet::setup {

/// A position in a text that is being read, for the scanners of both formats.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string_view since(std::size_t begin) const {
    return text_.substr(begin, at_ - begin);
  }
  /// The next character; NUL at the end.
  [[nodiscard]] char peek() const { return done() ? '\0' : text_[at_]; }
  [[nodiscard]] bool next_is(std::string_view words) const {
    return text_.substr(at_).starts_with(words);
  }
  void advance(std::size_t count = 1) { at_ += count; }
  bool take(std::string_view words) {
    if (!next_is(words)) return false;
    advance(words.size());
    return true;
  }
  void skip(std::string_view characters) {
    while (!done() && characters.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  /// Stands at the next line end, or at the end.
  void skip_line() {
    while (!done() && text_[at_] != '\n') ++at_;
  }
  /// "line 3, column 14: `what`", of this position or another.
  [[nodiscard]] Error wrong(const std::string& what) const { return wrong(what, at_); }
  [[nodiscard]] Error wrong(const std::string& what, std::size_t at) const;

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Where the line of a position begins.
[[nodiscard]] std::size_t line_begin(std::string_view text, std::size_t at);
/// The line ends of a text: "\r\n" if its first is.
[[nodiscard]] std::string_view line_end_of(std::string_view text);
/// `text` with these line ends instead of "\n".
[[nodiscard]] std::string with_line_ends(std::string text, std::string_view line_end);

}  // namespace ratchet::setup
