#include "server/mcp/http/socket_stream.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <variant>

namespace ratchet::mcp {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kWriteLimit{30};  // for each KiB of an answer
constexpr std::size_t kProgressBytes = 1024;     // less is what a client sends to stay connected
constexpr std::chrono::seconds kLingerLimit{2};
constexpr std::size_t kLingerBytes = std::size_t{64} << 20U;
constexpr std::size_t kChunk = std::size_t{16} << 10U;
constexpr std::size_t kFlushAt = std::size_t{64} << 10U;

}  // namespace

SocketStream::SocketStream(int socket, int wake, Times times,
                           ConnectionTable::Connection& connection)
    : socket_(socket), wake_(wake), times_(times), connection_(connection) {}

bool SocketStream::wait(short events, steady_clock::time_point until, bool until_stop) const {
  std::array<pollfd, 2> watched{{{socket_, events, 0}, {wake_, POLLIN, 0}}};
  int count = 0;
  connection_.begin_wait();
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    const auto limit = static_cast<int>(std::max<std::int64_t>(0, left.count()));
    count = ::poll(watched.data(), until_stop ? 2 : 1, limit);
  } while (count < 0 && errno == EINTR);
  const bool open = connection_.end_wait();
  return open && count > 0 && watched[1].revents == 0;
}

bool SocketStream::note_moved(std::size_t bytes) {
  moved_ += bytes;
  if (moved_ < kProgressBytes) return false;
  moved_ = 0;
  connection_.note_progress();
  return true;
}

SocketStream::Waited SocketStream::wait_for_request() {
  if (in_read_ < in_.size()) return Waited::request;
  // On a busy machine, the client has often sent its next call by the time that this thread runs
  // again; sleeping and waking up for it would cost more.
  ::sched_yield();
  if (receive_at_once() > 0) return Waited::request;
  if (served_) connection_.note_progress();  // it waits since its last answer
  const auto limit = served_ ? times_.idle : times_.first;
  return wait(POLLIN, steady_clock::now() + limit, true) ? Waited::request : Waited::end;
}

ssize_t SocketStream::receive_at_once() {
  if (in_read_ == in_.size()) {
    in_.clear();
    in_read_ = 0;
  }
  std::array<char, kChunk> chunk;  // NOLINT: filled by recv
  const ssize_t count = ::recv(socket_, chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (count > 0) in_.append(chunk.data(), static_cast<std::size_t>(count));
  return count;
}

bool SocketStream::receive() {
  while (true) {
    const ssize_t count = receive_at_once();
    if (count > 0) {
      if (note_moved(static_cast<std::size_t>(count)) && has_head_)
        deadline_ = steady_clock::now() + times_.pause;
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
    if (!wait(POLLIN, deadline_)) return false;
  }
}

std::optional<HttpProblem> SocketStream::receive_head(const HeadLimits& limits) {
  deadline_ = steady_clock::now() + times_.head;
  has_head_ = false;
  std::size_t scanned = 0;
  while (true) {
    const auto view = std::string_view(in_).substr(in_read_);
    const auto end = view.find("\r\n\r\n", scanned);
    if (end != std::string_view::npos) {
      auto cleaned = clean_head(view.substr(0, end + 4), limits);
      if (auto* problem = std::get_if<HttpProblem>(&cleaned)) return std::move(*problem);
      head_ = std::get<CleanHead>(std::move(cleaned));
      head_read_ = 0;
      body_read_ = 0;
      in_read_ += end + 4;
      has_head_ = true;
      served_ = true;
      deadline_ = steady_clock::now() + times_.pause;
      return std::nullopt;
    }
    if (view.size() > limits.head_bytes) return HttpProblem{431, "the head is larger than 64 KiB"};
    scanned = view.size() < 3 ? 0 : view.size() - 3;
    if (!receive()) return HttpProblem{408, view.empty() ? "" : "the head did not arrive in time"};
  }
}

bool SocketStream::read_whole_request() const {
  // Only the library knows the end of a chunked body.
  return !head_.chunked && head_read_ == head_.text.size() && body_read_ == head_.body_bytes;
}

bool SocketStream::is_readable() const {
  return head_read_ < head_.text.size() || in_read_ < in_.size() || wait(POLLIN, deadline_);
}

ssize_t SocketStream::read(char* bytes, std::size_t size) {
  std::string* source = &head_.text;
  std::size_t* at = &head_read_;
  if (head_read_ == head_.text.size()) {
    if (in_read_ == in_.size() && (!flush() || !receive())) return -1;
    source = &in_;
    at = &in_read_;
  }
  const std::size_t count = std::min(size, source->size() - *at);
  std::memcpy(bytes, source->data() + *at, count);
  *at += count;
  if (source == &in_) body_read_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t SocketStream::write(const char* bytes, std::size_t size) {
  out_.append(bytes, size);
  if (out_.size() >= kFlushAt && !flush()) return -1;
  return static_cast<ssize_t>(size);
}

bool SocketStream::flush() {
  auto until = steady_clock::now() + kWriteLimit;
  std::size_t done = 0;
  connection_.note_progress();  // what it waited for before does not count
  while (done < out_.size()) {
    const ssize_t count =
        ::send(socket_, out_.data() + done, out_.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
      if (note_moved(static_cast<std::size_t>(count))) until = steady_clock::now() + kWriteLimit;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLOUT, until)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  out_.clear();
  return true;
}

void SocketStream::linger() {
  if (!flush()) return;
  ::shutdown(socket_, SHUT_WR);
  const auto until = steady_clock::now() + kLingerLimit;
  std::array<char, kChunk> chunk;  // NOLINT: filled by recv
  for (std::size_t total = 0; total < kLingerBytes;) {
    if (!wait(POLLIN, until, true)) return;
    const ssize_t count = ::recv(socket_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (count <= 0) return;
    total += static_cast<std::size_t>(count);
  }
}

bool SocketStream::flush_and_check() {
  if (!flush()) return false;
  pollfd event{socket_, POLLRDHUP, 0};
  return ::poll(&event, 1, 0) == 0;
}

}  // namespace ratchet::mcp
