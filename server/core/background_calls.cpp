#include "server/core/background_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/core/hash.h"

namespace ratchet {
namespace {

/// Ids are handles that anybody may show, so they must not be guessable.
constexpr std::size_t kIdBytes = 8;

std::string new_id() {
  const std::string bytes = random_bytes(kIdBytes);
  return "job-" + hex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

Error busy(const Job& other) {
  const JobView view = other.view();
  return {ErrorCode::conflict,
          fmt::format("run: {} is busy: {} works on it as {}", other.of_run(), view.tool, view.id),
          "Wait for it: run_status with the run says when it is done. cancel_job ends it."};
}

}  // namespace

Error unknown_job(const std::string& id) {
  return {ErrorCode::not_found, fmt::format("job: there is no job {}", id),
          "A server remembers its own newest jobs. run_status with the run says what was recorded; "
          "list_runs names the runs."};
}

void Jobs::reap() {
  std::erase_if(running_, [](Running& one) {
    if (!one.job->ended()) return false;
    one.thread.join();
    return true;
  });
}

Result<std::shared_ptr<Job>> Jobs::start(const std::string& tool, const std::string& run,
                                         Job::Work work) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return Error{ErrorCode::unavailable, "the server is ending", ""};
  reap();
  for (const auto& other : running_)
    if (!run.empty() && other.job->of_run() == run) return busy(*other.job);
  if (running_.size() >= most_)
    return Error{ErrorCode::unavailable, fmt::format("{} jobs are at work already", most_),
                 "Wait until one is done, or end one with cancel_job."};
  auto job = std::make_shared<Job>(new_id(), tool, run);
  running_.push_back({job, std::thread([job, work = std::move(work)] { job->run(work); })});
  return job;
}

void Jobs::keep(const std::shared_ptr<Job>& job) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(job);
  auto surplus = kept_.size() - std::min(kept_.size(), most_kept_);
  std::erase_if(kept_,
                [&](const auto& one) { return surplus > 0 && one->ended() && surplus-- > 0; });
}

std::shared_ptr<Job> Jobs::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(kept_, id, &Job::id);
  return found == kept_.end() ? nullptr : *found;
}

std::shared_ptr<Job> Jobs::working_on(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      kept_, [&](const auto& one) { return one->of_run() == run && !one->ended(); });
  return found == kept_.end() ? nullptr : *found;
}

void Jobs::stop() {
  std::vector<Running> running;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    running = std::exchange(running_, {});
  }
  for (const auto& one : running) one.job->cancel();
  for (auto& one : running) one.thread.join();
}

}  // namespace ratchet
