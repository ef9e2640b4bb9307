#pragma once

// A tool's work that may outlast the call that asked for it.

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

enum class JobState {
  working,
  input_required,  ///< waits for a person's answer
  completed,       ///< the tool answered; an error that it answered is an answer too
  failed,          ///< a bug of ours
  cancelled,
};
constexpr auto enum_names(JobState) {
  return std::array{std::pair{JobState::working, "working"},
                    std::pair{JobState::input_required, "input_required"},
                    std::pair{JobState::completed, "completed"},
                    std::pair{JobState::failed, "failed"},
                    std::pair{JobState::cancelled, "cancelled"}};
}

/// A job at one moment.
struct JobView {
  std::string id, tool;
  std::optional<std::string> run;
  JobState state = JobState::working;
  std::optional<std::string> message;  ///< newest progress
  std::optional<double> done, total;
  std::string started, changed;  ///< UTC, ISO 8601
  double elapsed_s = 0;          ///< until now, or until it ended
  std::optional<Json> answer;
  std::optional<std::string> error;
  std::string next;

  static constexpr void fields(auto&& visit) {
    using J = JobView;
    visit(required("id", &J::id, ""), required("tool", &J::tool, ""), optional("run", &J::run, ""),
          required("state", &J::state, ""), optional("message", &J::message, "Newest progress."),
          optional("done", &J::done, ""), optional("total", &J::total, ""),
          required("started", &J::started, "UTC."), required("changed", &J::changed, "UTC."),
          required("elapsed_s", &J::elapsed_s, "Seconds."),
          optional("answer", &J::answer, "What the tool answered."),
          optional("error", &J::error, "Or why it could not."),
          required("next", &J::next, "What to do now."));
  }
};

/// One piece of work on a thread of its own (see Jobs), which callers attend to, leave and find
/// again.
///
/// Thread rule: all members from any thread; `run` once. Ownership: shared by whoever looks at it.
class Job {
 public:
  using Work = std::function<ToolAnswer(CallContext& call)>;

  Job(std::string id, std::string tool, std::string run);

  [[nodiscard]] const std::string& id() const { return id_; }
  /// Run that it works on; empty when it belongs to none.
  [[nodiscard]] const std::string& of_run() const { return of_run_; }
  [[nodiscard]] JobView view() const;
  [[nodiscard]] bool ended() const;
  /// Empty until it ended.
  [[nodiscard]] std::optional<ToolAnswer> answer() const;

  /// Serves the work on behalf of a caller until it ended, `until` came or the caller cancelled:
  /// passes progress on, repeats it every few seconds, puts questions. True when it ended.
  bool attend(CallContext& call, std::chrono::steady_clock::time_point until);

  /// Who answers what the work asks once nobody attends to it.
  enum class Questions { refused, kept };
  /// The last caller left; questions wait for `reply`, or are refused.
  void hand_over(Questions questions);

  /// Open questions of a job handed over, by keys that never recur.
  [[nodiscard]] std::map<std::string, std::string> questions() const;
  /// Answers a question. Unknown keys and second answers are ignored.
  void reply(const std::string& key, Consent consent);

  /// Asks the work to end. Nothing happens to one that has ended.
  void cancel() { stop_.request_stop(); }

  /// Does the work, on the thread of the job.
  void run(const Work& work);

 private:
  struct Question {
    std::string text;
    std::optional<Consent> answer;
  };

  Consent ask(std::string_view text);
  void report(double done, std::optional<double> total, std::string_view message);
  void end(JobState state, ToolAnswer answer);
  /// Key of the first question without an answer. Needs the lock.
  [[nodiscard]] std::optional<std::string> unanswered() const;
  [[nodiscard]] JobState state() const;  // needs the lock

  const std::string id_, tool_, of_run_;
  const std::chrono::system_clock::time_point started_;
  std::stop_source stop_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::chrono::system_clock::time_point last_change_;
  std::size_t reports_ = 0;  ///< how often progress was reported
  double done_ = 0;
  std::optional<double> total_;
  std::string message_;
  std::size_t asked_ = 0;
  std::map<std::string, Question> questions_;
  std::optional<Questions> handed_over_;
  std::optional<JobState> ended_;
  ToolAnswer answer_;
};

}  // namespace ratchet
