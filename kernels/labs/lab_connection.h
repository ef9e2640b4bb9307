#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/labs/lab_messages.h"
#include "kernels/labs/lab_stream.h"
#include "kernels/labs/lab_texts.h"
#include "kernels/labs/remote_lab.h"
#include "server/core/call_context.h"
#include "server/core/process.h"

namespace ratchet {

/// The command of a remote lab, and the calls that wait for its answers. Thread-safe.
///
/// One thread starts the command, reads from it and ends it, because the command dies with the
/// thread that started it.
class LabConnection {
 public:
  explicit LabConnection(RemoteLabOptions options);
  LabConnection(const LabConnection&) = delete;
  LabConnection& operator=(const LabConnection&) = delete;
  ~LabConnection();

  /// Sends a request, after starting the command if need be, and waits for the answer's body.
  /// Errors: those of the lab; `unavailable` when it is lost; `timed_out` when the caller cancels;
  /// `not_permitted` when the budget of the call's meter is used up, also while it waits.
  Result<Json> ask(const std::string& method, Json body, const CallContext& call);

  /// Asks the command to end; the destructor waits for that. No call can be made any more.
  void close() { keeper_.request_stop(); }

  [[nodiscard]] LabState state() const;
  /// How often it was lost, or did not start, since its last answer: counted before the calls that
  /// met it end.
  [[nodiscard]] int losses() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// A call that waits.
  struct Waiting {
    const CallContext* call = nullptr;  ///< null once it was canceled and went away
    TextPieces texts;                   ///< of the request
    Clock::time_point told;             ///< progress about them
    std::optional<Result<Json>> answer;
  };
  /// The command while it runs.
  struct Running {
    Process process;
    LabStream stream;
    Fd errors;               ///< its stderr
    std::string last_words;  ///< the end of that
  };

  void keep(const std::stop_token& stop);
  Result<std::shared_ptr<Running>> start(const std::stop_token& stop);
  static void end(Running& running, std::chrono::milliseconds patience);
  Status greet(Running& running, const std::stop_token& stop);
  Error read_from(Running& running, const std::stop_token& stop);
  Status take(Json json);
  void lose(const Error& why);
  [[nodiscard]] bool in_use() const;
  [[nodiscard]] Error located(Error error, Running* running) const;
  Result<std::shared_ptr<Running>> reach(const CallContext& call,
                                         std::unique_lock<std::mutex>& lock);
  Result<Json> wait(Waiting& waiting, const std::string& id, LabStream& stream,
                    std::unique_lock<std::mutex>& lock);
  Status send_piece(Waiting& waiting, const std::string& id, LabStream& stream,
                    std::unique_lock<std::mutex>& lock);

  const RemoteLabOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<Running> running_;  ///< set once the lab has said hello
  bool wanted_ = false;
  bool ending_ = false;
  int failures_ = 0;              ///< of starts and connections so far
  int losses_ = 0;                ///< of these since the last answer
  std::optional<Error> failure_;  ///< the last
  std::map<std::string, std::shared_ptr<Waiting>> waiting_;
  Clock::time_point used_;
  LabMeter held_;     ///< by calls
  std::string says_;  ///< the command's last line, while it starts
  LabState state_;
  bool up_ = false;                              ///< started, and not over yet
  std::optional<Clock::time_point> held_since_;  ///< its greeting: a queue costs nothing
  std::jthread keeper_;                          // last: it uses the others
};

}  // namespace ratchet
