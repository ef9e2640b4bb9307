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

/// Works on items on other threads, ahead of the one who gives them, and hands them back in the
/// order they came in. Who waits for one helps with those behind it, so that no processor idles.
///
/// `work` runs on several threads at once, that of the giver among them, and must not throw.
/// Everything else is for one thread. Leaving early is fine: the threads end after what they are
/// at.
template <class Item>
class Ahead {
 public:
  Ahead(std::size_t threads, std::function<void(Item&)> work) : work_(std::move(work)) {
    for (std::size_t i = 0; i < threads; ++i)
      workers_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  void give(Item item) {
    const std::lock_guard lock(mutex_);
    places_.push_back({std::move(item), false});
    given_.notify_one();
  }

  /// Items that were given and not yet taken.
  [[nodiscard]] std::size_t waiting() const { return places_.size(); }

  /// The oldest of those, worked on. There must be one.
  Item next() {
    std::unique_lock lock(mutex_);
    while (!places_.front().done) {
      if (started_ < places_.size())
        work_on_next(lock);
      else
        done_.wait(lock);
    }
    Item item = std::move(places_.front().item);
    places_.pop_front();
    --started_;
    return item;
  }

 private:
  struct Place {
    Item item;
    bool done = false;
  };

  void work_on_next(std::unique_lock<std::mutex>& lock) {
    Place& place = places_[started_++];  // stays where it is until it is taken
    lock.unlock();
    work_(place.item);
    lock.lock();
    place.done = true;
    done_.notify_one();
  }

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (given_.wait(lock, stop, [&] { return started_ < places_.size(); }) &&
           !stop.stop_requested())
      work_on_next(lock);
  }

  std::function<void(Item&)> work_;
  std::mutex mutex_;
  std::condition_variable_any given_;
  std::condition_variable done_;
  std::deque<Place> places_;
  std::size_t started_ = 0;            // of `places_`, from the front
  std::vector<std::jthread> workers_;  // last: joined before what they use is gone
};

}  // namespace ratchet::kbs
