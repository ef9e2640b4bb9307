#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ratchet::kbs {

/// Processes items on worker threads and returns them in the order in which they were pushed. A
/// caller that waits for an item processes later ones meanwhile, so that no processor idles.
///
/// `work` runs on several threads at once, including the caller's, and must not throw. All other
/// functions belong to one thread. Items that were not started are dropped on destruction.
template <class Item>
class OrderedPipeline {
 public:
  OrderedPipeline(std::size_t threads, std::function<void(Item&)> work) : work_(std::move(work)) {
    for (std::size_t i = 0; i < threads; ++i)
      workers_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
  OrderedPipeline(const OrderedPipeline&) = delete;
  OrderedPipeline& operator=(const OrderedPipeline&) = delete;

  void push(Item item) {
    const std::lock_guard lock(mutex_);
    slots_.push_back({std::move(item), false});
    pushed_.notify_one();
  }

  /// Number of items pushed and not yet popped.
  [[nodiscard]] std::size_t size() const { return slots_.size(); }

  /// Waits for the oldest item and returns it. Requires `size() > 0`.
  Item pop() {
    std::unique_lock lock(mutex_);
    while (!slots_.front().done) {
      if (started_ < slots_.size())
        process_next(lock);
      else
        done_.wait(lock);
    }
    Item item = std::move(slots_.front().item);
    slots_.pop_front();
    --started_;
    return item;
  }

 private:
  struct Slot {
    Item item;
    bool done = false;
  };

  void process_next(std::unique_lock<std::mutex>& lock) {
    Slot& slot = slots_[started_++];  // a deque keeps its address until it is popped
    lock.unlock();
    work_(slot.item);
    lock.lock();
    slot.done = true;
    done_.notify_one();
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (pushed_.wait(lock, stop, [&] { return started_ < slots_.size(); }) &&
           !stop.stop_requested())
      process_next(lock);
  }

  std::function<void(Item&)> work_;
  std::mutex mutex_;
  std::condition_variable_any pushed_;
  std::condition_variable done_;
  std::deque<Slot> slots_;
  std::size_t started_ = 0;            // number of slots started, from the front
  std::vector<std::jthread> workers_;  // last member, so that it is joined first
};

}  // namespace ratchet::kbs
