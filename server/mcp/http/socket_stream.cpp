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

constexpr std::chrono::seconds kWriteLimit{30};
constexpr std::chrono::seconds kLingerLimit{2};
constexpr std::size_t kLingerBytes = std::size_t{64} << 20U;
constexpr std::size_t kChunk = std::size_t{16} << 10U;
constexpr std::size_t kFlushAt = std::size_t{64} << 10U;

}  // namespace

SocketStream::SocketStream(int socket, int wake, Times times)
    : socket_(socket), wake_(wake), times_(times) {}

bool SocketStream::wait(short events, steady_clock::time_point until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    pollfd event{socket_, events, 0};
    const int count = ::poll(&event, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

SocketStream::Waited SocketStream::wait_for_request(std::chrono::milliseconds limit) {
  if (in_read_ < in_.size()) return Waited::request;
  // On a busy machine, the client has often sent its next call by the time that this thread runs
  // again; sleeping and waking up for it would cost more.
  ::sched_yield();
  if (receive_at_once() > 0) return Waited::request;
  std::array<pollfd, 2> events{{{socket_, POLLIN, 0}, {wake_, POLLIN, 0}}};
  const int count = ::poll(events.data(), events.size(), static_cast<int>(limit.count()));
  if (count <= 0 || events[1].revents != 0) return Waited::end;
  return Waited::request;
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
    if (count > 0) return true;
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
    if (!wait(POLLIN, deadline_)) return false;
  }
}

std::optional<HttpProblem> SocketStream::receive_head(const HeadLimits& limits) {
  deadline_ = steady_clock::now() + times_.head;
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
      deadline_ = steady_clock::now() + times_.rest;
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
  const auto until = steady_clock::now() + kWriteLimit;
  std::size_t done = 0;
  while (done < out_.size()) {
    const ssize_t count =
        ::send(socket_, out_.data() + done, out_.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
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
  std::array<pollfd, 2> events{{{socket_, POLLIN, 0}, {wake_, POLLIN, 0}}};
  for (std::size_t total = 0; total < kLingerBytes;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
    const auto limit = static_cast<int>(std::max<std::int64_t>(0, left.count()));
    if (::poll(events.data(), events.size(), limit) <= 0 || events[1].revents != 0) return;
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
