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
  /// The tasks of a lane share a limit; more are queued in order, up to a limit, too. `waits` is
  /// for tasks that only wait for work done elsewhere; so they keep no other task from running.
  /// `urgent` has no limit: it is for the few tasks that keep a transport alive.
  enum class Lane { reads, works, waits, urgent };
  struct Limits {
    std::size_t reads = 1;
    std::size_t works = 1;
    std::size_t waits = 1;
    std::size_t most_waiting = 64;  ///< queued tasks of each lane
  };

  explicit Pool(const Limits& limits);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Runs a task, or queues it. False when the lane's queue is full: the task never runs.
  [[nodiscard]] bool post(Lane lane, std::function<void()> task);

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

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable task_ready_;
  std::deque<Task> ready_;  ///< admitted by their lanes, waiting for an idle thread
  std::size_t idle_ = 0;
  bool stopping_ = false;
  Queue reads_;
  Queue works_;
  Queue waits_;
  Queue urgent_;
  std::vector<std::thread> threads_;
};

}  // namespace ratchet::mcp
