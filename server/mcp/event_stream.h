#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

#include "server/mcp/dispatcher.h"
#include "server/mcp/outlet.h"

namespace ratchet::mcp {

/// Messages on their way to one HTTP response: filled by the call, emptied by the connection.
///
/// Holds at most 64 MiB; what a client does not take beyond that is lost, and the stream with it.
/// Thread rule: all members from any thread.
class EventStream final : public Outlet {
 public:
  bool send(std::string message) override;

  /// The call is over. Its reply, if any, is the last message.
  void finish(std::optional<Reply> reply);
  /// The client is gone: nothing more is taken.
  void close();

  enum class State { silent, talking, finished };
  /// Waits until something was sent or the call is over, at most `limit`.
  State wait(std::chrono::milliseconds limit);

  /// The reply of a finished stream; empty when it has none.
  [[nodiscard]] std::optional<Reply> take_reply();
  /// Everything sent so far, as server-sent events, with the reply at the end when finished.
  [[nodiscard]] std::string take_events();
  [[nodiscard]] bool exhausted() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string events_;
  std::optional<Reply> reply_;
  bool finished_ = false;
  bool closed_ = false;
};

}  // namespace ratchet::mcp
