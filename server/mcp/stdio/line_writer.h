#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>

#include "server/mcp/session/message_sink.h"

namespace ratchet::mcp {

/// Writes messages, one a line, to a descriptor that it does not own.
///
/// One thread writes at a time; messages that come meanwhile join its next write. A client that
/// does not read makes senders wait once 64 MiB are pending, and loses everything when `stop` is
/// asked. Thread rule: all members from any thread.
class LineWriter final : public MessageSink {
 public:
  /// `wake` becomes readable when `stop` is requested, so that a blocked write ends.
  LineWriter(int descriptor, int wake, std::stop_token stop);

  bool send(std::string message) override;

  /// Until `uncork`, the messages of all threads are collected. Used while more input is at hand.
  void cork();
  void uncork();
  /// Nothing is written any more once this returns.
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
