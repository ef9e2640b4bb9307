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
  if (visible_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::show(double done, std::optional<double> total, std::string_view message) {
  if (terminal_.columns == 0) {
    fmt::print(stderr, "… {}\n", message);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (visible_ && now - drawn_ < kBetweenDrawings) return;
  drawn_ = now;
  visible_ = true;
  const auto text =
      progress_text(done, total.value_or(0), now - start_, message, terminal_.columns - 1);
  fmt::print(stderr, "\r{}\x1b[K", text);
  std::fflush(stderr);
}

std::string progress_text(double done, double total, std::chrono::duration<double> elapsed,
                          std::string_view message, int columns) {
  std::string out = "… ";
  if (total > 0) {
    const double part = std::clamp(done / total, 0.0, 1.0);
    const auto filled = static_cast<std::size_t>(part * kBar);
    out = fmt::format("[{}{}] {:3.0f} %  ", std::string(filled, '#'),
                      std::string(kBar - filled, ' '), std::floor(part * 100));
    if (part > 0 && part < 1) out += duration_text(elapsed.count() * (1 - part) / part) + " left  ";
  }
  // One line: what a tool reports may hold several.
  out += message.substr(0, message.find('\n'));
  return std::string(beginning(out, static_cast<std::size_t>(std::max(columns, 1))));
}

}  // namespace ratchet
