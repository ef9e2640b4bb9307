#include "server/mcp/session/session.h"

#include <utility>

#include "server/mcp/message/message.h"

namespace ratchet::mcp {
namespace {

/// Limits the memory that a client can make a session use.
constexpr std::size_t kMostSubscriptions = 10'000;

}  // namespace

InFlight::Entry::Entry(InFlight& owner, const Json& id) : owner_(owner), id_(id_text(id)) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.entries_.emplace(id_, this);
}

InFlight::Entry::~Entry() {
  const std::lock_guard lock(owner_.mutex_);
  auto [first, last] = owner_.entries_.equal_range(id_);
  for (; first != last; ++first) {
    if (first->second != this) continue;
    owner_.entries_.erase(first);
    return;
  }
}

bool InFlight::cancel(const Json& id) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = entries_.equal_range(id_text(id));
  if (first == last || std::next(first) != last) return false;
  first->second->stop().request_stop();
  return true;
}

void Session::open(Json capabilities) {
  if (shared_) return;
  const std::lock_guard lock(mutex_);
  open_ = true;
  capabilities_ = std::move(capabilities);
}

bool Session::is_open() const {
  const std::lock_guard lock(mutex_);
  return shared_ || open_;
}

bool Session::client_can(std::string_view capability) const {
  const std::lock_guard lock(mutex_);
  return capabilities_.is_object() && capabilities_.contains(capability);
}

void Session::set_log_level(LogLevel level) {
  const std::lock_guard lock(mutex_);
  log_level_ = level;
}

std::optional<LogLevel> Session::log_level() const {
  const std::lock_guard lock(mutex_);
  return log_level_;
}

bool Session::subscribe(std::string uri) {
  const std::lock_guard lock(mutex_);
  if (subscriptions_.size() >= kMostSubscriptions) return false;
  subscriptions_.insert(std::move(uri));
  return true;
}

void Session::unsubscribe(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  subscriptions_.erase(uri);
}

bool Session::is_subscribed(const std::string& uri) const {
  const std::lock_guard lock(mutex_);
  return subscriptions_.contains(uri);
}

void Session::attach(const std::shared_ptr<MessageSink>& sink) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sinks_, [](const auto& known) { return known.expired(); });
  sinks_.push_back(sink);
}

void Session::send(const std::string& message) {
  std::vector<std::shared_ptr<MessageSink>> living;
  {
    const std::lock_guard lock(mutex_);
    for (auto known = sinks_.rbegin(); known != sinks_.rend(); ++known)
      if (auto sink = known->lock()) living.push_back(std::move(sink));
  }
  for (const auto& sink : living)
    if (sink->send(message) && !shared_) return;
}

}  // namespace ratchet::mcp
