#pragma once

#include <filesystem>
#include <string_view>

namespace ratchet {

/// The machine's log (systemd's journal, rsyslog, …) through its socket, usually `/dev/log`.
///
/// What is in it cannot be changed by an ordinary user, though any user can add to it. Writing
/// never waits and never fails: without a log, or if it is full, a line is lost. Thread rule: safe
/// from several threads.
class SystemLog {
 public:
  /// An empty path is a log that keeps nothing.
  explicit SystemLog(std::filesystem::path socket) : socket_(std::move(socket)) {}

  void write(std::string_view line) const;

 private:
  std::filesystem::path socket_;
};

}  // namespace ratchet
