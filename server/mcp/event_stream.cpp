#include "server/mcp/event_stream.h"

#include <utility>

namespace ratchet::mcp {
namespace {

constexpr std::size_t kMostPending = std::size_t{64} << 20U;

void append_event(std::string& events, const std::string& message) {
  events += "event: message\ndata: ";
  events += message;
  events += "\n\n";
}

}  // namespace

bool EventStream::send(std::string message) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || finished_) return false;
    if (events_.size() + message.size() > kMostPending) {
      closed_ = true;
      return false;
    }
    append_event(events_, message);
  }
  changed_.notify_all();
  return true;
}

void EventStream::finish(std::optional<Reply> reply) {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    reply_ = std::move(reply);
  }
  changed_.notify_all();
}

void EventStream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    events_.clear();
  }
  changed_.notify_all();
}

EventStream::State EventStream::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, limit, [this] { return finished_ || closed_ || !events_.empty(); });
  if (!events_.empty()) return State::talking;
  return finished_ || closed_ ? State::finished : State::silent;
}

std::optional<Reply> EventStream::take_reply() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reply_, std::nullopt);
}

std::string EventStream::take_events() {
  const std::lock_guard lock(mutex_);
  std::string events = std::exchange(events_, {});
  if (finished_ && reply_) append_event(events, reply_->text);
  if (finished_) reply_.reset();
  return events;
}

bool EventStream::exhausted() const {
  const std::lock_guard lock(mutex_);
  return closed_ || (finished_ && events_.empty() && !reply_);
}

}  // namespace ratchet::mcp
