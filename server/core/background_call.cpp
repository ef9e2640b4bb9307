#include "server/core/background_call.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "server/core/clock.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

/// Silence after which a caller is told again: clients give up on calls that say nothing.
constexpr std::chrono::seconds kHeartbeat{5};

std::string next_step(JobState state) {
  switch (state) {
    case JobState::working:
      return "Call run_status with this job again later; cancel_job ends it.";
    case JobState::input_required:
      return "It waits for the user's answer, which the client gives; cancel_job ends it.";
    case JobState::failed:
      return "The server has a fault; its log says more. Call the tool again.";
    case JobState::cancelled:
      return "Call the tool again to start over.";
    case JobState::completed:
      break;
  }
  return "Read answer or error.";
}

}  // namespace

Job::Job(std::string id, std::string tool, std::string run)
    : id_(std::move(id)),
      tool_(std::move(tool)),
      of_run_(std::move(run)),
      started_(std::chrono::system_clock::now()),
      last_change_(started_) {}

JobState Job::state() const {
  if (ended_) return *ended_;
  const bool waits = handed_over_ == Questions::kept && unanswered();
  return waits ? JobState::input_required : JobState::working;
}

bool Job::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_.has_value();
}

std::optional<ToolAnswer> Job::answer() const {
  const std::lock_guard lock(mutex_);
  return ended_ ? std::optional(answer_) : std::nullopt;
}

JobView Job::view() const {
  const std::lock_guard lock(mutex_);
  const auto until = ended_ ? last_change_ : std::chrono::system_clock::now();
  JobView view{.id = id_,
               .tool = tool_,
               .state = state(),
               .started = utc_text(started_),
               .changed = utc_text(last_change_),
               .elapsed_s = std::chrono::duration<double>(until - started_).count(),
               .next = next_step(state())};
  if (!of_run_.empty()) view.run = of_run_;
  if (!message_.empty()) view.message = message_;
  if (reports_ > 0) view.done = done_;
  view.total = total_;
  if (ended_ && answer_.is_error) view.error = answer_.text;
  if (ended_ && !answer_.is_error) view.answer = answer_.structured;
  return view;
}

std::optional<std::string> Job::unanswered() const {
  for (const auto& [key, question] : questions_)
    if (!question.answer) return key;
  return std::nullopt;
}

bool Job::attend(CallContext& call, steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  std::size_t told = 0;
  auto next_word = steady_clock::now() + kHeartbeat;
  while (true) {
    const auto now = steady_clock::now();
    if (reports_ != told || (!ended_ && now >= next_word)) {
      told = reports_;
      next_word = now + kHeartbeat;
      const auto [done, total, message] = std::tuple(done_, total_, message_);
      lock.unlock();
      call.progress(done, total, message.empty() ? tool_ + " is working" : message);
      lock.lock();
      continue;
    }
    if (ended_) return true;
    if (call.cancelled() || now >= until) return false;
    if (const auto key = unanswered()) {
      const std::string text = questions_.at(*key).text;
      lock.unlock();
      reply(*key, call.confirm(text));
      lock.lock();
      continue;
    }
    changed_.wait_until(lock, call.stop(), std::min(until, next_word),
                        [&] { return ended_ || reports_ != told || unanswered(); });
  }
}

void Job::hand_over(Questions questions) {
  const std::lock_guard lock(mutex_);
  handed_over_ = questions;
  changed_.notify_all();
}

std::map<std::string, std::string> Job::questions() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> open;
  if (state() == JobState::input_required)
    for (const auto& [key, question] : questions_)
      if (!question.answer) open.emplace(key, question.text);
  return open;
}

void Job::reply(const std::string& key, Consent consent) {
  const std::lock_guard lock(mutex_);
  const auto found = questions_.find(key);
  if (found == questions_.end() || found->second.answer) return;
  found->second.answer = consent;
  last_change_ = std::chrono::system_clock::now();
  changed_.notify_all();
}

Consent Job::ask(std::string_view text) {
  std::unique_lock lock(mutex_);
  const std::string key = fmt::format("confirm-{}", ++asked_);
  Question& question = questions_[key];
  question.text = text;
  last_change_ = std::chrono::system_clock::now();
  changed_.notify_all();
  changed_.wait(lock, stop_.get_token(),
                [&] { return question.answer.has_value() || handed_over_ == Questions::refused; });
  const Consent consent = question.answer.value_or(Consent::unavailable);
  questions_.erase(key);
  return consent;
}

void Job::report(double done, std::optional<double> total, std::string_view message) {
  const std::lock_guard lock(mutex_);
  ++reports_;
  done_ = done;
  total_ = total;
  message_ = message;
  last_change_ = std::chrono::system_clock::now();
  changed_.notify_all();
}

void Job::end(JobState state, ToolAnswer answer) {
  const std::lock_guard lock(mutex_);
  ended_ = state;
  answer_ = std::move(answer);
  last_change_ = std::chrono::system_clock::now();
  changed_.notify_all();
}

void Job::run(const Work& work) {
  CallContext call([this](double done, std::optional<double> total,
                          std::string_view message) { report(done, total, message); },
                   stop_.get_token(), [this](std::string_view text) { return ask(text); });
  try {
    ToolAnswer answer = work(call);
    const bool cancelled = stop_.stop_requested() && answer.is_error;
    end(cancelled ? JobState::cancelled : JobState::completed, std::move(answer));
  } catch (const std::exception& failure) {
    // A bug of ours; its text may hold what is nobody's business.
    spdlog::error("{} failed as {}: {}", tool_, id_, failure.what());
    end(JobState::failed,
        error_answer({ErrorCode::internal, tool_ + " failed", "The server's log says more."}));
  }
}

}  // namespace ratchet
