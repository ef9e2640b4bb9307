#include "server/mcp/stdio/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ratchet::mcp {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10U;
/// Reads tried before sleeping, for about 50 µs: if the client is about to send its next call,
/// sleeping and waking up costs more than most calls.
constexpr int kTriesAwake = 100;

bool blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

LineReader::LineReader(int descriptor, int wake, std::size_t limit)
    : descriptor_(descriptor),
      wake_(wake),
      never_blocks_((::fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0),
      limit_(limit),
      chunk_(kReadSize) {}

bool LineReader::has_line() const {
  return buffer_.find('\n', scanned_) != std::string::npos;
}

LineReader::Event LineReader::next(std::string_view& line) {
  while (true) {
    const std::size_t newline = buffer_.find('\n', scanned_);
    if (newline != std::string::npos) {
      line = std::string_view(buffer_).substr(start_, newline - start_);
      start_ = scanned_ = newline + 1;
      if (skipping_)
        skipping_ = false;  // the rest of a line reported before
      else if (line.size() > limit_)
        return Event::too_long;
      else if (!blank(line))
        return Event::line;
      continue;
    }
    scanned_ = buffer_.size();
    if (buffer_.size() - start_ > limit_) {
      start_ = scanned_;
      const bool first = !skipping_;
      skipping_ = true;
      if (first) return Event::too_long;
    }
    if (!fill()) return Event::end;
  }
}

bool LineReader::fill() {
  buffer_.erase(0, start_);
  scanned_ -= start_;
  start_ = 0;
  bool ready = never_blocks_;
  int tries = 0;
  while (true) {
    if (!ready) {
      std::array<pollfd, 2> events{{{descriptor_, POLLIN, 0}, {wake_, POLLIN, 0}}};
      ::poll(events.data(), events.size(), -1);
      if (events[1].revents != 0) return false;
    }
    const ssize_t count = ::read(descriptor_, chunk_.data(), chunk_.size());
    if (count > 0) {
      buffer_.append(chunk_.data(), static_cast<std::size_t>(count));
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
    ready = never_blocks_ && ++tries < kTriesAwake;
    if (ready) ::sched_yield();
  }
}

}  // namespace ratchet::mcp
