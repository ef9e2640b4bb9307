#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "server/mcp/dispatch/dispatcher.h"
#include "server/mcp/session/message_sink.h"

namespace ratchet::mcp {

/// Messages queued for one HTTP client: written by the call, read by a connection and, if the
/// stream is resumable, by later connections.
///
/// Readers count messages: `next` is the number of the first unread one. Holds at most 64 MiB; when
/// a client reads too slowly for that, the stream is closed. Thread-safe.
class EventStream final : public MessageSink {
 public:
  bool send(std::string message) override;
  /// Closes the connection that reads a resumable stream, or the next one that does; see
  /// `take_hang_up`.
  void hang_up() override;

  /// From now on, event ids are made of `id` and the event's number, and messages that were read
  /// are kept, up to 1 MiB, for a client that did not receive them.
  void make_resumable(std::string id);
  /// The call has ended. Its reply, if any, is the last message.
  void finish(std::optional<Reply> reply);
  /// The client is gone: further messages are dropped.
  void close();

  enum class State { silent, talking, finished };
  /// Waits until there is something to read, the call has ended or the connection must close; at
  /// most `limit`.
  State wait(std::size_t next, std::chrono::milliseconds limit);

  /// The reply of a finished stream that was not read yet; empty when it has none.
  [[nodiscard]] std::optional<Reply> take_reply();
  /// An event without a message; its id lets a client resume before the first message.
  [[nodiscard]] std::string opening_event() const;
  /// All messages from `next` on as server-sent events, followed by the reply if the stream is
  /// finished. Advances `next`.
  [[nodiscard]] std::string take_events(std::size_t& next);
  [[nodiscard]] bool exhausted(std::size_t next) const;
  /// Whether a resumable stream's connection must close; true once per `hang_up`.
  [[nodiscard]] bool take_hang_up();
  /// Whether all messages from `next` on are still available.
  [[nodiscard]] bool holds(std::size_t next) const;
  /// When the call ended; empty while it runs.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> finished_at() const;

 private:
  void take(std::string message);
  void forget(std::size_t next);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string id_;  ///< empty: not resumable
  std::deque<std::string> messages_;
  std::size_t first_ = 0;  ///< number of the first message held
  std::size_t bytes_ = 0;
  std::optional<Reply> reply_;
  std::optional<std::chrono::steady_clock::time_point> finished_at_;
  bool closed_ = false;
  bool hang_up_ = false;
};

}  // namespace ratchet::mcp
