#include "server/mcp/dispatch/pool.h"

#include <limits>
#include <utility>

namespace ratchet::mcp {

Pool::Pool(const Limits& limits) : most_waiting_(limits.most_waiting) {
  reads_.limit = limits.reads;
  works_.limit = limits.works;
  waits_.limit = limits.waits;
  urgent_.limit = std::numeric_limits<std::size_t>::max();
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Queue* queue : {&reads_, &works_, &waits_, &urgent_}) queue->waiting.clear();
    ready_.clear();
  }
  task_ready_.notify_all();
  for (auto& thread : threads_) thread.join();
}

Pool::Queue& Pool::queue(Lane lane) {
  switch (lane) {
    case Lane::reads:
      return reads_;
    case Lane::works:
      return works_;
    case Lane::waits:
      return waits_;
    case Lane::urgent:
      break;
  }
  return urgent_;
}

bool Pool::post(Lane lane, std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (stopping_) return true;  // dropped, as queued ones are
  Queue& target = queue(lane);
  if (target.running >= target.limit) {
    if (target.waiting.size() >= most_waiting_) return false;
    target.waiting.push_back(std::move(task));
    return true;
  }
  ++target.running;
  // Tasks already ready will take idle threads first, so only a surplus of idle ones counts.
  if (idle_ > ready_.size()) {
    ready_.push_back({&target, std::move(task)});
    lock.unlock();
    task_ready_.notify_one();
    return true;
  }
  start_thread({&target, std::move(task)});
  return true;
}

void Pool::start_thread(Task first) {
  threads_.emplace_back([this, task = std::move(first)]() mutable { work(std::move(task)); });
}

void Pool::work(Task task) {
  while (true) {
    task.run();
    task.run = nullptr;  // destroys what it captured before this thread waits
    std::unique_lock lock(mutex_);
    Queue& lane = *task.queue;
    if (!lane.waiting.empty()) {
      task.run = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      continue;
    }
    --lane.running;
    ++idle_;
    task_ready_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    --idle_;
    if (ready_.empty()) return;
    task = std::move(ready_.front());
    ready_.pop_front();
  }
}

}  // namespace ratchet::mcp
