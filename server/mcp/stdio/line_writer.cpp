#include "server/mcp/stdio/line_writer.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace ratchet::mcp {
namespace {

constexpr std::size_t kMostPendingBytes = std::size_t{64} << 20U;
/// Beyond this size, corked answers are sent: the client can start on them.
constexpr std::size_t kCorkedLimit = std::size_t{16} << 10U;

}  // namespace

LineWriter::LineWriter(int descriptor, int wake, std::stop_token stop)
    : descriptor_(descriptor), wake_(wake), stop_(std::move(stop)) {}

bool LineWriter::send(std::string message) {
  std::unique_lock lock(mutex_);
  if (pending_.size() > kMostPendingBytes)
    room_.wait(lock, stop_, [this] { return broken_ || pending_.size() <= kMostPendingBytes; });
  if (broken_) return false;
  pending_ += message;
  pending_ += '\n';
  if (!busy_ && (!corked_ || pending_.size() > kCorkedLimit)) drain(lock);
  return !broken_;
}

void LineWriter::cork() {
  const std::lock_guard lock(mutex_);
  corked_ = true;
}

void LineWriter::uncork() {
  std::unique_lock lock(mutex_);
  corked_ = false;
  if (!busy_) drain(lock);
}

void LineWriter::close() {
  std::unique_lock lock(mutex_);
  broken_ = true;
  room_.notify_all();
  room_.wait(lock, [this] { return !busy_; });
}

void LineWriter::drain(std::unique_lock<std::mutex>& lock) {
  busy_ = true;
  while (!pending_.empty() && !broken_) {
    writing_.clear();
    std::swap(pending_, writing_);
    lock.unlock();
    room_.notify_all();
    const bool written = write_all(writing_);
    lock.lock();
    broken_ = broken_ || !written;
  }
  busy_ = false;
  room_.notify_all();
}

bool LineWriter::write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      std::array<pollfd, 2> events{{{descriptor_, POLLOUT, 0}, {wake_, POLLIN, 0}}};
      ::poll(events.data(), events.size(), -1);
      if (stop_.stop_requested()) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace ratchet::mcp
