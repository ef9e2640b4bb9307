#include "server/mcp/http/event_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace ratchet::mcp {
namespace {

constexpr std::size_t kMostPending = std::size_t{64} << 20U;
constexpr std::size_t kMostKept = std::size_t{1} << 20U;
constexpr int kRetryMs = 500;

}  // namespace

void EventStream::take(std::string message) {
  bytes_ += message.size();
  messages_.push_back(std::move(message));
}

void EventStream::forget(std::size_t next) {
  const std::size_t kept = id_.empty() ? 0 : kMostKept;
  while (first_ < next && bytes_ > kept) {
    bytes_ -= messages_.front().size();
    messages_.pop_front();
    ++first_;
  }
}

bool EventStream::send(std::string message) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || finished_at_) return false;
    if (bytes_ + message.size() > kMostPending) {
      closed_ = true;
      return false;
    }
    take(std::move(message));
  }
  changed_.notify_all();
  return true;
}

void EventStream::hang_up() {
  {
    const std::lock_guard lock(mutex_);
    hang_up_ = true;
  }
  changed_.notify_all();
}

void EventStream::make_resumable(std::string id) {
  const std::lock_guard lock(mutex_);
  id_ = std::move(id);
}

void EventStream::finish(std::optional<Reply> reply) {
  {
    const std::lock_guard lock(mutex_);
    finished_at_ = std::chrono::steady_clock::now();
    reply_ = std::move(reply);
  }
  changed_.notify_all();
}

void EventStream::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    messages_.clear();
  }
  changed_.notify_all();
}

EventStream::State EventStream::wait(std::size_t next, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  const auto unread = [&] { return first_ + messages_.size() > next; };
  changed_.wait_for(lock, limit, [&] { return finished_at_ || closed_ || hang_up_ || unread(); });
  if (unread()) return State::talking;
  return finished_at_ || closed_ ? State::finished : State::silent;
}

std::optional<Reply> EventStream::take_reply() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reply_, std::nullopt);
}

std::string EventStream::opening_event() const {
  const std::lock_guard lock(mutex_);
  return fmt::format("id: {}-0\nretry: {}\ndata: \n\n", id_, kRetryMs);
}

std::string EventStream::take_events(std::size_t& next) {
  const std::lock_guard lock(mutex_);
  if (finished_at_ && reply_) {
    take(std::move(reply_->text));
    reply_.reset();
  }
  std::string events;
  for (next = std::max(next, first_); next < first_ + messages_.size();) {
    const std::string& message = messages_[next - first_];
    ++next;
    if (!id_.empty()) fmt::format_to(std::back_inserter(events), "id: {}-{}\n", id_, next);
    events += "event: message\ndata: ";
    events += message;
    events += "\n\n";
  }
  forget(next);
  return events;
}

bool EventStream::exhausted(std::size_t next) const {
  const std::lock_guard lock(mutex_);
  return closed_ || (finished_at_ && !reply_ && next >= first_ + messages_.size());
}

bool EventStream::take_hang_up() {
  const std::lock_guard lock(mutex_);
  return std::exchange(hang_up_, false) && !id_.empty();
}

bool EventStream::holds(std::size_t next) const {
  const std::lock_guard lock(mutex_);
  return !closed_ && next >= first_ && next <= first_ + messages_.size();
}

std::optional<std::chrono::steady_clock::time_point> EventStream::finished_at() const {
  const std::lock_guard lock(mutex_);
  return finished_at_;
}

}  // namespace ratchet::mcp
