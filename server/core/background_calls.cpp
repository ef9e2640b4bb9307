#include "server/core/background_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/core/hash.h"

namespace ratchet {
namespace {

/// Whoever knows an id can read and cancel the call, so ids must not be guessable.
constexpr std::size_t kIdBytes = 8;

std::string new_id() {
  const std::string bytes = random_bytes(kIdBytes);
  return "job-" + hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

Error busy(const BackgroundCall& other) {
  return {ErrorCode::conflict,
          fmt::format("run: {} is busy: {} is working on it as {}", other.run_id(),
                      other.snapshot().tool, other.id()),
          "Wait until it is done, which run_status shows, or end it with cancel_job."};
}

}  // namespace

Error unknown_job(const std::string& id) {
  return {ErrorCode::not_found, fmt::format("job: there is no job {}", id),
          "A server knows only jobs that it started itself, and only the latest. run_status with "
          "the run shows what was recorded; list_runs lists the runs."};
}

void BackgroundCalls::reap() {
  std::erase_if(running_, [](Running& one) {
    if (!one.call->ended()) return false;
    one.thread.join();
    return true;
  });
}

Result<std::shared_ptr<BackgroundCall>> BackgroundCalls::start(const std::string& tool,
                                                               const std::string& run,
                                                               BackgroundCall::Work work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return unavailable("the server is stopping");
  reap();
  for (const auto& other : running_)
    if (!run.empty() && other.call->run_id() == run) return busy(*other.call);
  if (running_.size() >= max_running_)
    return unavailable(fmt::format("{} jobs are already running", max_running_),
                       "Wait until one is done, or end one with cancel_job.");
  auto call = std::make_shared<BackgroundCall>(new_id(), tool, run);
  running_.push_back({call, std::thread([call, work = std::move(work)] { call->run(work); })});
  return call;
}

void BackgroundCalls::keep(const std::shared_ptr<BackgroundCall>& call) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(call);
  auto surplus = kept_.size() - std::min(kept_.size(), max_kept_);
  std::erase_if(kept_,
                [&](const auto& one) { return surplus > 0 && one->ended() && surplus-- > 0; });
}

std::shared_ptr<BackgroundCall> BackgroundCalls::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, id, &BackgroundCall::id);
  return found == kept_.end() ? nullptr : *found;
}

std::shared_ptr<BackgroundCall> BackgroundCalls::working_on(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      kept_, [&](const auto& one) { return one->run_id() == run && !one->ended(); });
  return found == kept_.end() ? nullptr : *found;
}

void BackgroundCalls::stop() {
  std::vector<Running> running;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    running = std::exchange(running_, {});
  }
  for (const auto& one : running) one.call->cancel();
  for (auto& one : running) one.thread.join();
}

}  // namespace ratchet
