#include "kernels/process/lasting_spawn.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace ratchet {
namespace {

class Spawner {
 public:
  Spawner() {
    std::thread([this] { work(); }).detach();
  }

  Result<Process> spawn(const ProcessSpec& spec) {
    std::promise<Result<Process>> done;
    auto spawned = done.get_future();
    {
      const std::lock_guard lock(guard_);
      wanted_.push_back({&spec, &done});
    }
    asked_.notify_one();
    return spawned.get();
  }

 private:
  struct Wanted {
    const ProcessSpec* spec;
    std::promise<Result<Process>>* done;
  };

  [[noreturn]] void work() {
    std::unique_lock lock(guard_);
    while (true) {
      asked_.wait(lock, [this] { return !wanted_.empty(); });
      const Wanted next = wanted_.front();
      wanted_.pop_front();
      lock.unlock();
      next.done->set_value(Process::spawn(*next.spec));
      lock.lock();
    }
  }

  std::mutex guard_;
  std::condition_variable asked_;
  std::deque<Wanted> wanted_;
};

}  // namespace

Result<Process> spawn_to_last(const ProcessSpec& spec) {
  static auto* const spawner = new Spawner;  // its thread never ends, so neither does it
  return spawner->spawn(spec);
}

}  // namespace ratchet
