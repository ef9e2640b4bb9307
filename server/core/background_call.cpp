#include "server/core/background_call.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "server/core/clock.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

/// Progress is repeated after this much silence: clients time out calls that report nothing.
constexpr std::chrono::seconds kHeartbeat{5};

std::string next_step(CallState state) {
  switch (state) {
    case CallState::working:
      return "Call run_status with this job again later; cancel_job ends it.";
    case CallState::input_required:
      return "It waits for the user's answer, which the client gives; cancel_job ends it.";
    case CallState::failed:
      return "The server failed; its log has the reason. Call the tool again.";
    case CallState::canceled:
      return "Call the tool again to start over.";
    case CallState::completed:
      break;
  }
  return "Read answer or error.";
}

}  // namespace

BackgroundCall::BackgroundCall(std::string id, std::string tool, std::string run)
    : id_(std::move(id)),
      tool_(std::move(tool)),
      run_id_(std::move(run)),
      started_(std::chrono::system_clock::now()),
      last_change_(started_) {}

CallState BackgroundCall::state() const {
  if (ended_) return *ended_;
  const bool waits = detached_ == Questions::kept && unanswered();
  return waits ? CallState::input_required : CallState::working;
}

bool BackgroundCall::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_.has_value();
}

std::optional<ToolAnswer> BackgroundCall::answer() const {
  const std::lock_guard lock(mutex_);
  return ended_ ? std::optional(answer_) : std::nullopt;
}

CallSnapshot BackgroundCall::snapshot() const {
  const std::lock_guard lock(mutex_);
  const auto until = ended_ ? last_change_ : std::chrono::system_clock::now();
  CallSnapshot now{.id = id_,
                   .tool = tool_,
                   .state = state(),
                   .started = utc_text(started_),
                   .changed = utc_text(last_change_),
                   .elapsed_s = std::chrono::duration<double>(until - started_).count(),
                   .next = next_step(state())};
  if (!run_id_.empty()) now.run = run_id_;
  if (!message_.empty()) now.message = message_;
  if (reports_ > 0) now.done = done_;
  now.total = total_;
  if (ended_ && answer_.is_error) now.error = answer_.text;
  if (ended_ && !answer_.is_error) now.answer = answer_.structured;
  return now;
}

std::optional<std::string> BackgroundCall::unanswered() const {
  for (const auto& [key, question] : questions_)
    if (!question.answer) return key;
  return std::nullopt;
}

bool BackgroundCall::wait(CallContext& call, steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  std::size_t reported = 0;
  auto heartbeat = steady_clock::now() + kHeartbeat;
  while (true) {
    const auto now = steady_clock::now();
    if (reports_ != reported || (!ended_ && now >= heartbeat)) {
      reported = reports_;
      heartbeat = now + kHeartbeat;
      const auto [done, total, message] = std::tuple(done_, total_, message_);
      lock.unlock();
      call.progress(done, total, message.empty() ? tool_ + " is working" : message);
      lock.lock();
      continue;
    }
    if (ended_) return true;
    if (call.canceled() || now >= until) return false;
    if (const auto key = unanswered()) {
      const std::string text = questions_.at(*key).text;
      lock.unlock();
      reply(*key, call.confirm(text));
      lock.lock();
      continue;
    }
    changed_.wait_until(lock, call.stop(), std::min(until, heartbeat),
                        [&] { return ended_ || reports_ != reported || unanswered(); });
  }
}

void BackgroundCall::detach(Questions questions) {
  const std::lock_guard lock(mutex_);
  detached_ = questions;
  changed_.notify_all();
}

std::map<std::string, std::string> BackgroundCall::questions() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> open;
  if (state() == CallState::input_required)
    for (const auto& [key, question] : questions_)
      if (!question.answer) open.emplace(key, question.text);
  return open;
}

void BackgroundCall::touch() {
  last_change_ = std::chrono::system_clock::now();
  changed_.notify_all();
}

void BackgroundCall::reply(const std::string& key, Consent consent) {
  const std::lock_guard lock(mutex_);
  const auto found = questions_.find(key);
  if (found == questions_.end() || found->second.answer) return;
  found->second.answer = consent;
  touch();
}

Consent BackgroundCall::ask(std::string_view text) {
  std::unique_lock lock(mutex_);
  const std::string key = fmt::format("confirm-{}", ++asked_);
  Question& question = questions_[key];
  question.text = text;
  touch();
  changed_.wait(lock, stop_.get_token(),
                [&] { return question.answer.has_value() || detached_ == Questions::refused; });
  const Consent consent = question.answer.value_or(Consent::unavailable);
  questions_.erase(key);
  return consent;
}

void BackgroundCall::report(double done, std::optional<double> total, std::string_view message) {
  const std::lock_guard lock(mutex_);
  ++reports_;
  done_ = done;
  total_ = total;
  message_ = message;
  touch();
}

void BackgroundCall::end(CallState state, ToolAnswer answer) {
  const std::lock_guard lock(mutex_);
  ended_ = state;
  answer_ = std::move(answer);
  touch();
}

void BackgroundCall::run(const Work& work) {
  CallContext call([this](double done, std::optional<double> total,
                          std::string_view message) { report(done, total, message); },
                   stop_.get_token(), [this](std::string_view text) { return ask(text); });
  try {
    ToolAnswer answer = work(call);
    const bool canceled = stop_.stop_requested() && answer.is_error;
    end(canceled ? CallState::canceled : CallState::completed, std::move(answer));
  } catch (const std::exception& failure) {
    // The exception's text may hold paths or secrets: it goes to the log only.
    spdlog::error("{} failed as {}: {}", tool_, id_, failure.what());
    end(CallState::failed,
        error_answer({ErrorCode::internal, tool_ + " failed", "The server's log has the reason."}));
  }
}

}  // namespace ratchet
