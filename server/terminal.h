#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

// What the commands print: for a person at a terminal it fits the window; in a file or a pipe every
// line stays as it is, for programs that read it.

namespace ratchet {

/// What stands behind a descriptor.
struct Terminal {
  int columns = 0;     ///< 0: no terminal
  bool color = false;  ///< a terminal, and neither NO_COLOR nor TERM=dumb

  static Terminal behind(int fd);
};

/// Breaks lines at blanks so that none has more than `columns` characters; what follows a break is
/// indented by two more than its line. A longer word (a path, a digest) stays whole, so that it can
/// be copied.
[[nodiscard]] std::string wrapped(std::string_view text, int columns);

/// Prints to stdout: wrapped, and headings in bold, where that is a terminal.
void print_text(std::string_view text);
/// The same to stderr, without headings. Ends the line if `text` does not.
void print_error(std::string_view text);

/// Long work on stderr: on a terminal one line that is drawn again, with a bar and the time left;
/// else a line for each message. Not thread-safe; the destructor removes the line.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool on_terminal() const { return terminal_.columns > 0; }
  /// `done` of `total` in any unit; without a total only the message is shown.
  void show(double done, std::optional<double> total, std::string_view message);

 private:
  Terminal terminal_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_;
  bool visible_ = false;
};

/// "[#####     ]  52 %  8 s left  message" in at most `columns` characters. `elapsed` since none
/// was done; the time left is left out before anything is known about it.
[[nodiscard]] std::string progress_text(double done, double total,
                                        std::chrono::duration<double> elapsed,
                                        std::string_view message, int columns);

}  // namespace ratchet
