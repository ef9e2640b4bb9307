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

/// Follows reports of long work through its parts: another part begins where the total is another
/// or the count falls back. Pure: the caller says what time it is.
class ProgressParts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The first part begins at `start`, with nothing done.
  explicit ProgressParts(Time start) : start_(start) {}

  /// `done` of `total` in any unit. Returns whether a line about it is due in a file or a pipe: for
  /// the first report, and later after ten seconds, or two if another part has begun or the words
  /// before the message's first number are others.
  bool report(double done, std::optional<double> total, std::string_view message, Time now);
  /// Of the part, at its pace so far; empty before anything is known about it.
  [[nodiscard]] std::optional<std::chrono::duration<double>> left(Time now) const;

 private:
  bool begun_ = false;
  bool untold_ = false;  ///< another part has begun since the last line
  double first_ = 0, done_ = 0;
  std::optional<double> total_;
  Time start_, said_;
  std::string words_;
};

/// Long work on stderr: on a terminal one line that is drawn again, with a bar and the time left;
/// else now and then a line. Not thread-safe; the destructor removes the line.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `done` of `total` in any unit; without a total only the message is shown.
  void show(double done, std::optional<double> total, std::string_view message);
  /// Removes the line, so that other text can be printed.
  void clear();

 private:
  Terminal terminal_;
  ProgressParts parts_{std::chrono::steady_clock::now()};
  std::chrono::steady_clock::time_point drawn_;
  bool visible_ = false;
};

/// "[#####     ]  52 %  8 s left  message" in at most `columns` characters; for 0 columns, that is
/// a file or a pipe, "… message (52 %, 8 s left)". Of a message of several lines the first.
[[nodiscard]] std::string progress_text(double done, double total,
                                        std::optional<std::chrono::duration<double>> left,
                                        std::string_view message, int columns);

}  // namespace ratchet
