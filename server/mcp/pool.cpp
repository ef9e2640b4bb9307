#include "server/mcp/pool.h"

#include <limits>
#include <utility>

namespace ratchet::mcp {

Pool::Pool(std::size_t read_limit, std::size_t work_limit) {
  reads_.limit = read_limit;
  works_.limit = work_limit;
  urgent_.limit = std::numeric_limits<std::size_t>::max();
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (Queue* queue : {&reads_, &works_, &urgent_}) queue->waiting.clear();
    ready_.clear();
  }
  ready_job_.notify_all();
  for (auto& thread : threads_) thread.join();
}

Pool::Queue& Pool::queue(Lane lane) {
  switch (lane) {
    case Lane::reads:
      return reads_;
    case Lane::works:
      return works_;
    case Lane::urgent:
      break;
  }
  return urgent_;
}

void Pool::post(Lane lane, std::function<void()> task) {
  std::unique_lock lock(mutex_);
  if (stopping_) return;
  Queue& target = queue(lane);
  if (target.running >= target.limit) {
    target.waiting.push_back(std::move(task));
    return;
  }
  ++target.running;
  // Jobs already ready will take idle threads first, so only a surplus of idle ones counts.
  if (idle_ > ready_.size()) {
    ready_.push_back({&target, std::move(task)});
    lock.unlock();
    ready_job_.notify_one();
    return;
  }
  start_one({&target, std::move(task)});
}

void Pool::start_one(Job job) {
  threads_.emplace_back([this, first = std::move(job)]() mutable { work(std::move(first)); });
}

void Pool::work(Job job) {
  while (true) {
    job.task();
    job.task = nullptr;  // what it captured must not outlive it by an idle hour
    std::unique_lock lock(mutex_);
    Queue& lane = *job.queue;
    if (!lane.waiting.empty()) {
      job.task = std::move(lane.waiting.front());
      lane.waiting.pop_front();
      continue;
    }
    --lane.running;
    ++idle_;
    ready_job_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    --idle_;
    if (ready_.empty()) return;
    job = std::move(ready_.front());
    ready_.pop_front();
  }
}

std::size_t Pool::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

}  // namespace ratchet::mcp
