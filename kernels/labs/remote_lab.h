#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/lab.h"
#include "server/core/lab_meter.h"
#include "server/facts/lab_state.h"

namespace ratchet {

/// Where a lab is and how it is reached.
struct RemoteLabOptions {
  std::string name;
  std::string group;    ///< labs of one group are meant to be alike; one alone has its own name
  std::string command;  ///< for /bin/sh: speaks the protocol on its stdin and stdout
  std::string version;  ///< of this ratchet; the lab must have the same
  std::chrono::milliseconds start_limit{600'000};  ///< an allocation may have to be waited for
  std::chrono::milliseconds idle{60'000};          ///< after which the command is ended
  std::chrono::milliseconds silence{60'000};       ///< after which it counts as lost
  std::vector<std::string> tags;
  std::optional<LabPrice> price;
  /// Told when its command, just started, has said hello. By a thread of its own; may be empty.
  std::function<void()> greeted;
  /// Told when its command has ended: lost, or idle. By a thread of its own; may be empty.
  std::function<void(bool lost)> ended;
};

/// A lab in another process, usually on another machine: `ratchet lab` at the end of a command such
/// as `ssh gpu3 ratchet lab`. The command is started when a call needs it and ended when it has
/// been idle.
///
/// It measures; this server owns the truth: it sends what to do and records the answers, and of a
/// run's secret only what is derived for this lab. A call that is cut off never happened: its error
/// says so, and the next one starts the command again. Threads and errors as `Lab`, and
/// `unavailable` where the lab cannot be reached or breaks the protocol.
class RemoteLab : public Lab {
 public:
  /// `local` does what needs no device: problems, drawings, sources. Borrowed.
  static std::unique_ptr<RemoteLab> make(RemoteLabOptions options, Lab& local);

  [[nodiscard]] virtual LabState state() const = 0;

  /// How often it was lost, or did not start, since its last answer.
  [[nodiscard]] virtual int losses() const = 0;

  /// Asks the command to end; the destructor waits for that. Later calls fail.
  virtual void close() = 0;
};

}  // namespace ratchet
