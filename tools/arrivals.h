#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>

namespace ratchet {

/// What has been built so far, for those that wait for it. Thread-safe.
class Arrivals {
 public:
  /// Of these only the first counts: then `record` is called, before anyone sees it.
  void note(std::size_t which, const std::function<void()>& record) {
    const std::scoped_lock lock(mutex_);
    if (!here_.insert(which).second) return;
    record();
    changed_.notify_all();
  }
  /// No more will come.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// Whether it came.
  bool wait(std::size_t which) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || here_.contains(which); });
    return here_.contains(which);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::size_t> here_;
  bool closed_ = false;
};

}  // namespace ratchet
