#include "server/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr int kUsualColumns = 80;  // of a terminal that does not say
constexpr std::chrono::milliseconds kBetweenDrawings(100);
constexpr std::chrono::seconds kBetweenLines(10);
constexpr std::chrono::seconds kBetweenParts(2);
constexpr int kBar = 20;

/// Characters, not bytes.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// The first `count` characters.
std::string_view beginning(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() &&
         (count > 0 || (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U) --count;
    ++at;
  }
  return text.substr(0, at);
}

void append_wrapped(std::string& out, std::string_view line, std::size_t columns) {
  if (length_of(line) <= columns) {
    out += line;
    return;
  }
  const auto indent = std::min(line.find_first_not_of(" \t"), columns / 2);
  const std::string margin(indent + 2, ' ');
  std::size_t used = 0;  // characters of the line under construction
  for (std::size_t at = 0; at < line.size();) {
    const auto word = line.find_first_not_of(' ', at);
    if (word == std::string_view::npos) return;
    const auto end = std::min(line.find(' ', word), line.size());
    const auto blanks = word - at;
    const auto length = length_of(line.substr(word, end - word));
    if (used > margin.size() && used + blanks + length > columns) {
      out += "\n" + margin;
      used = margin.size();
    } else {
      out.append(blanks, ' ');
      used += blanks;
    }
    out += line.substr(word, end - word);
    used += length;
    at = end;
  }
}

std::string duration_text(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", std::ceil(seconds));
  return fmt::format("{:.0f} min", std::ceil(seconds / 60));
}

}  // namespace

Terminal Terminal::behind(int fd) {
  Terminal terminal;
  if (::isatty(fd) == 0) return terminal;
  winsize size{};
  terminal.columns =
      ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
  const char* no_color = std::getenv("NO_COLOR");
  const char* kind = std::getenv("TERM");
  terminal.color = (no_color == nullptr || *no_color == '\0') && kind != nullptr &&
                   std::string_view(kind) != "dumb";
  return terminal;
}

std::string wrapped(std::string_view text, int columns) {
  std::string out;
  const bool ended = text.ends_with('\n');
  for (const auto line : lines_of(text)) {
    append_wrapped(out, line, static_cast<std::size_t>(columns));
    out += '\n';
  }
  if (!ended && !out.empty()) out.pop_back();
  return out;
}

void print_text(std::string_view text) {
  const auto terminal = Terminal::behind(STDOUT_FILENO);
  if (terminal.columns == 0) {
    fmt::print("{}", text);
    return;
  }
  const std::string fitting = wrapped(text, terminal.columns);
  for (const auto line : lines_of(fitting)) {
    // The keys of an answer stand at the margin; so does the head of a list.
    const auto colon = line.find(':');
    const bool heading = terminal.color && colon != std::string_view::npos && colon > 0 &&
                         line.substr(0, colon).find(' ') == std::string_view::npos;
    if (heading)
      fmt::print("\x1b[1m{}\x1b[0m{}\n", line.substr(0, colon + 1), line.substr(colon + 1));
    else
      fmt::print("{}\n", line);
  }
}

void print_error(std::string_view text) {
  const auto terminal = Terminal::behind(STDERR_FILENO);
  const std::string shown =
      terminal.columns > 0 ? wrapped(text, terminal.columns) : std::string(text);
  fmt::print(stderr, "{}{}", shown, shown.ends_with('\n') ? "" : "\n");
}

ProgressLine::ProgressLine() : terminal_(Terminal::behind(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  clear();
}

bool ProgressParts::report(double done, std::optional<double> total, std::string_view message,
                           Time now) {
  const auto words = message.substr(0, message.find_first_of("0123456789"));
  const bool other = total != total_ || done < done_;
  untold_ = untold_ || other || words != words_;
  const bool due = !begun_ || now - said_ >= (untold_ ? kBetweenParts : kBetweenLines);
  if (begun_ && other) {
    first_ = done;
    start_ = now;
  }
  total_ = total;
  begun_ = true;
  done_ = done;
  if (!due) return false;
  untold_ = false;
  words_ = words;
  said_ = now;
  return true;
}

std::optional<std::chrono::duration<double>> ProgressParts::left(Time now) const {
  if (!total_ || done_ <= first_ || done_ >= *total_) return std::nullopt;
  const std::chrono::duration<double> elapsed = now - start_;
  return elapsed * ((*total_ - done_) / (done_ - first_));
}

void ProgressLine::show(double done, std::optional<double> total, std::string_view message) {
  const auto now = std::chrono::steady_clock::now();
  const bool due = parts_.report(done, total, message, now);
  if (terminal_.columns == 0) {
    if (due)
      fmt::print(stderr, "{}\n",
                 progress_text(done, total.value_or(0), parts_.left(now), message, 0));
    return;
  }
  if (visible_ && now - drawn_ < kBetweenDrawings) return;
  drawn_ = now;
  visible_ = true;
  fmt::print(stderr, "\r{}\x1b[K",
             progress_text(done, total.value_or(0), parts_.left(now), message,
                           std::max(terminal_.columns - 1, 1)));
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
}

std::string progress_text(double done, double total,
                          std::optional<std::chrono::duration<double>> left,
                          std::string_view message, int columns) {
  const auto line = message.substr(0, message.find('\n'));
  const double part = total > 0 ? std::clamp(done / total, 0.0, 1.0) : 0;
  const double percent = std::floor(part * 100);
  const std::string time = left ? duration_text(left->count()) + " left" : "";
  if (columns == 0) {
    if (total <= 0) return fmt::format("… {}", line);
    return fmt::format("… {} ({} %{}{})", line, percent, left ? ", " : "", time);
  }
  std::string out = "… ";
  if (total > 0) {
    const auto filled = static_cast<std::size_t>(part * kBar);
    out = fmt::format("[{}{}] {:3.0f} %  {}{}", std::string(filled, '#'),
                      std::string(kBar - filled, ' '), percent, time, left ? "  " : "");
  }
  out += line;
  return std::string(beginning(out, static_cast<std::size_t>(columns)));
}

}  // namespace ratchet
