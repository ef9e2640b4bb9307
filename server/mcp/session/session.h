#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/mcp/message/protocol.h"
#include "server/mcp/session/message_sink.h"

namespace ratchet::mcp {

/// Requests being served that a `notifications/cancelled` may still stop. Thread-safe.
class InFlight {
 public:
  /// Keeps a request findable until it goes out of scope.
  class Entry {
   public:
    Entry(InFlight& owner, const Json& id);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    [[nodiscard]] std::stop_source& stop() { return stop_; }

   private:
    InFlight& owner_;
    std::string id_;
    std::stop_source stop_;
  };

  /// Stops the request of this id. False when none is in flight, or more than one: clients without
  /// sessions choose ids independently, and the wrong one must not be stopped.
  bool cancel(const Json& id);

 private:
  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, Entry*> entries_;
};

/// What a legacy client told us, and what we may send it unasked. One per stdio connection, one per
/// HTTP session id, and one shared by all HTTP clients without ids. Thread-safe.
class Session {
 public:
  /// A shared session belongs to nobody in particular: it learns no capabilities.
  explicit Session(bool shared = false) : shared_(shared) {}

  void open(std::string version, Json capabilities);
  [[nodiscard]] bool client_can(std::string_view capability) const;
  [[nodiscard]] std::string version() const;

  void set_log_level(LogLevel level);
  [[nodiscard]] std::optional<LogLevel> log_level() const;

  /// False when the session watches too many resources already.
  [[nodiscard]] bool watch(std::string uri);
  void unwatch(const std::string& uri);
  [[nodiscard]] bool watches(const std::string& uri) const;

  /// Adds a way to the client. A session sends to its newest living one, the shared one to all.
  void attach(const std::shared_ptr<MessageSink>& sink);
  void send(const std::string& message);

  [[nodiscard]] InFlight& in_flight() { return in_flight_; }

 private:
  const bool shared_;
  mutable std::mutex mutex_;
  std::string version_{kLegacyVersions.front()};
  Json capabilities_;
  std::optional<LogLevel> log_level_;
  std::set<std::string> watched_;
  std::vector<std::weak_ptr<MessageSink>> sinks_;
  InFlight in_flight_;
};

}  // namespace ratchet::mcp
