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

/// Messages on their way to one HTTP client: filled by the call, read by a connection, and if the
/// stream is resumable by the connections that come after it.
///
/// Readers count messages: `next` is the number of the first one they have not read. Holds at most
/// 64 MiB; what a client does not take beyond that is lost, and the stream with it.
/// Thread rule: all members from any thread.
class EventStream final : public MessageSink {
 public:
  bool send(std::string message) override;
  /// Ends the connection that reads a resumable stream now, or else the next one; see
  /// `take_hang_up`.
  void hang_up() override;

  /// From now on events bear ids made of this one and their number, and what was read is kept, as
  /// long as it is less than 1 MiB, for a client that did not get it.
  void make_resumable(std::string id);
  /// The call is over. Its reply, if any, is the last message.
  void finish(std::optional<Reply> reply);
  /// The client is gone: nothing more is taken.
  void close();

  enum class State { silent, talking, finished };
  /// Waits until there is something to read, something to do or the call is over, at most `limit`.
  State wait(std::size_t next, std::chrono::milliseconds limit);

  /// The reply of a finished stream that nobody read from; empty when it has none.
  [[nodiscard]] std::optional<Reply> take_reply();
  /// An event without a message: the id from which to resume before there was one.
  [[nodiscard]] std::string opening_event() const;
  /// Everything from message `next` on, as server-sent events, with the reply at the end when
  /// finished. Moves `next` past it.
  [[nodiscard]] std::string take_events(std::size_t& next);
  [[nodiscard]] bool exhausted(std::size_t next) const;
  /// Whether a resumable stream's connection shall end; says so once.
  [[nodiscard]] bool take_hang_up();
  /// Whether messages from `next` on are still held.
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
