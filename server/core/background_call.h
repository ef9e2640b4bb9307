#pragma once

// A tool call whose work may outlast the request that started it. Clients know it as a job.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "server/core/call_context.h"
#include "server/core/tool.h"

namespace ratchet {

enum class CallState {
  working,
  input_required,  ///< waits for the user's answer
  completed,       ///< the tool answered, possibly with an error
  failed,          ///< the tool threw: a bug in the server
  canceled,
};
constexpr auto enum_names(CallState) {
  return std::array{std::pair{CallState::working, "working"},
                    std::pair{CallState::input_required, "input_required"},
                    std::pair{CallState::completed, "completed"},
                    std::pair{CallState::failed, "failed"},
                    std::pair{CallState::canceled, "cancelled"}};
}

/// A background call at one moment.
struct CallSnapshot {
  std::string id, tool;
  std::optional<std::string> run;
  CallState state = CallState::working;
  std::optional<std::string> message;  ///< latest progress
  std::optional<double> done, total;
  std::string started, changed;  ///< UTC, ISO 8601
  double elapsed_s = 0;          ///< until now, or until it ended
  std::optional<Json> answer;
  std::optional<std::string> error;
  std::string next;

  static constexpr void fields(auto&& visit) {
    using C = CallSnapshot;
    visit(required<&C::id>("Job id."), required<&C::tool>("Tool that was called."),
          optional<&C::run>("Run it works on."),
          required<&C::state>("completed: the tool answered, possibly with an error."),
          optional<&C::message>("Latest progress."), optional<&C::done>("Progress so far."),
          optional<&C::total>("Progress at the end, when known."), required<&C::started>("UTC."),
          required<&C::changed>("Latest change, UTC."), required<&C::elapsed_s>("Running time, s."),
          optional<&C::answer>("The tool's answer."), optional<&C::error>("The tool's error."),
          required<&C::next>("What to do next."));
  }
};

/// One tool call that runs on its own thread (see BackgroundCalls). A caller can wait for it, leave
/// it running and find it again.
///
/// Thread-safe; `run` is called once. Shared by everyone who holds a pointer to it.
class BackgroundCall {
 public:
  using Work = std::function<ToolAnswer(CallContext& call)>;

  BackgroundCall(std::string id, std::string tool, std::string run);

  [[nodiscard]] const std::string& id() const { return id_; }
  /// The run it works on; empty when it belongs to none.
  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  [[nodiscard]] CallSnapshot snapshot() const;
  [[nodiscard]] bool ended() const;
  /// Empty until the call has ended.
  [[nodiscard]] std::optional<ToolAnswer> answer() const;

  /// Waits on behalf of a caller until the work ends, `until` passes or the caller cancels.
  /// Meanwhile forwards progress, repeats it every few seconds, and asks the caller the work's
  /// questions. Returns whether the work has ended.
  bool wait(CallContext& call, std::chrono::steady_clock::time_point until);

  /// What happens to questions after the last caller has left.
  enum class Questions { refused, kept };
  /// The last caller leaves: from now on questions wait for `reply`, or are refused.
  void detach(Questions questions);

  /// Open questions of a detached call by key. Keys are never reused.
  [[nodiscard]] std::map<std::string, std::string> questions() const;
  /// Answers a question. Ignores unknown keys and second answers.
  void reply(const std::string& key, Consent consent);

  /// Asks the work to stop; no effect once it has ended.
  void cancel() { stop_.request_stop(); }

  /// Does the work on the calling thread.
  void run(const Work& work);

 private:
  struct Question {
    std::string text;
    std::optional<Consent> answer;
  };

  Consent ask(std::string_view text);
  void report(double done, std::optional<double> total, std::string_view message);
  void end(CallState state, ToolAnswer answer);
  void touch();  // needs the lock
  /// The key of the first unanswered question. Needs the lock.
  [[nodiscard]] std::optional<std::string> unanswered() const;
  [[nodiscard]] CallState state() const;  // needs the lock

  const std::string id_, tool_, run_id_;
  const std::chrono::system_clock::time_point started_;
  std::stop_source stop_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::chrono::system_clock::time_point last_change_;
  std::size_t reports_ = 0;  ///< number of progress reports
  double done_ = 0;
  std::optional<double> total_;
  std::string message_;
  std::size_t asked_ = 0;
  std::map<std::string, Question> questions_;
  std::optional<Questions> detached_;
  std::optional<CallState> ended_;
  ToolAnswer answer_;
};

}  // namespace ratchet
