#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

#include "server/mcp/session/message_sink.h"

namespace ratchet::mcp {

/// Writes messages, one per line, to a descriptor that it does not own.
///
/// One thread writes at a time; messages sent meanwhile are part of its next write. When the client
/// does not read, senders block once 64 MiB are pending; a stop request drops what is pending.
/// Thread-safe.
class LineWriter final : public MessageSink {
 public:
  /// `wake` becomes readable when `stop` is requested, so that a blocked write ends.
  LineWriter(int descriptor, int wake, std::stop_token stop);

  bool send(std::string message) override;

  /// Collects the messages of all threads until `uncork`. Used while more input is buffered.
  void cork();
  void uncork();
  /// After this returns, nothing is written anymore.
  void close();

 private:
  void drain(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool write_all(const std::string& bytes);

  const int descriptor_;
  const int wake_;
  const std::stop_token stop_;
  std::mutex mutex_;
  std::condition_variable_any room_;  ///< pending shrank, or the writing thread is done
  std::string pending_;
  std::string writing_;
  bool busy_ = false;
  bool corked_ = false;
  bool broken_ = false;
};

}  // namespace ratchet::mcp
