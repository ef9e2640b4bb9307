#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ratchet::mcp {

/// Threads that live as long as the pool. One is added whenever a task finds none idle, so a slow
/// task never delays another of its lane below the lane's limit.
///
/// Threads never end early, because a child process dies with the thread that spawned it.
/// Thread-safe. The destructor waits for running tasks and drops queued ones.
class Pool {
 public:
  /// The tasks of a lane share a limit; more are queued in order. `urgent` has no limit: it is for
  /// the few tasks that keep a transport alive.
  enum class Lane { reads, works, urgent };

  Pool(std::size_t read_limit, std::size_t work_limit);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void post(Lane lane, std::function<void()> task);
  [[nodiscard]] std::size_t threads() const;

 private:
  struct Queue {
    std::size_t limit = 0;
    std::size_t running = 0;
    std::deque<std::function<void()>> waiting;
  };
  struct Task {
    Queue* queue;
    std::function<void()> run;
  };

  void start_thread(Task first);
  void work(Task first);
  [[nodiscard]] Queue& queue(Lane lane);

  mutable std::mutex mutex_;
  std::condition_variable task_ready_;
  std::deque<Task> ready_;  ///< admitted by their lanes, waiting for an idle thread
  std::size_t idle_ = 0;
  bool stopping_ = false;
  Queue reads_;
  Queue works_;
  Queue urgent_;
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::mcp
