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
  /// Registers a request until it goes out of scope.
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

  /// Stops the request with this id. Returns false when none is in flight, or more than one:
  /// clients without sessions choose ids independently, and the wrong one must not be stopped.
  bool cancel(const Json& id);

 private:
  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, Entry*> entries_;
};

/// State of a legacy client: its capabilities, its subscriptions and the ways to reach it. One per
/// stdio connection, one per HTTP session id, and one shared by all HTTP clients without ids.
/// Thread-safe.
class Session {
 public:
  /// A shared session records no capabilities.
  explicit Session(bool shared = false) : shared_(shared) {}

  /// Records the capabilities in the client's `initialize`.
  void open(Json capabilities);
  /// Whether a legacy client is known to be there: it sent `initialize`, or the session is shared
  /// and only legacy clients open streams to it. Stateless clients get no unsolicited messages.
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] bool client_can(std::string_view capability) const;

  void set_log_level(LogLevel level);
  [[nodiscard]] std::optional<LogLevel> log_level() const;

  /// Returns false when the session has 10,000 subscriptions already.
  [[nodiscard]] bool subscribe(std::string uri);
  void unsubscribe(const std::string& uri);
  [[nodiscard]] bool is_subscribed(const std::string& uri) const;

  /// Adds a destination. A session sends to the newest one that is still open; the shared session
  /// sends to all.
  void attach(const std::shared_ptr<MessageSink>& sink);
  void send(const std::string& message);

  [[nodiscard]] InFlight& in_flight() { return in_flight_; }

 private:
  const bool shared_;
  mutable std::mutex mutex_;
  bool open_ = false;
  Json capabilities_;
  std::optional<LogLevel> log_level_;
  std::set<std::string> subscriptions_;
  std::vector<std::weak_ptr<MessageSink>> sinks_;
  InFlight in_flight_;
};

}  // namespace ratchet::mcp
