#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace ratchet::kbs {

/// Makes things on other threads ahead of the one who takes them, and hands them over in order.
///
/// `make` runs on several threads at once and must not throw. At most `ahead` things are waiting.
/// Leaving early is fine: the threads end after what they are at.
template <class Item, class Made>
class Prefetch {
 public:
  Prefetch(const std::vector<Item>& items, std::function<Made(const Item&)> make,
           std::size_t threads, std::size_t ahead)
      : items_(items), make_(std::move(make)), slots_(ahead) {
    for (std::size_t i = 0; i < threads; ++i)
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// What was made of the next item; called once for each.
  Made next() {
    std::unique_lock lock(mutex_);
    auto& slot = slots_[taken_ % slots_.size()];
    made_.wait(lock, [&] { return slot.has_value(); });
    Made made = *std::move(slot);
    slot.reset();
    ++taken_;
    room_.notify_all();
    return made;
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      std::size_t index = 0;
      {
        std::unique_lock lock(mutex_);
        const bool room = room_.wait(lock, stop, [&] {
          return started_ >= items_.size() || started_ < taken_ + slots_.size();
        });
        if (!room || stop.stop_requested() || started_ >= items_.size()) return;
        index = started_++;
      }
      auto made = make_(items_[index]);
      const std::lock_guard lock(mutex_);
      slots_[index % slots_.size()] = std::move(made);
      made_.notify_one();
    }
  }

  const std::vector<Item>& items_;
  std::function<Made(const Item&)> make_;
  std::mutex mutex_;
  std::condition_variable_any room_;
  std::condition_variable made_;
  std::vector<std::optional<Made>> slots_;
  std::size_t started_ = 0;
  std::size_t taken_ = 0;
  std::vector<std::jthread> workers_;  // last: joined before what they use is gone
};

}  // namespace ratchet::kbs
