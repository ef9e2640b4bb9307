#include "server/exit_deadline.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "kernels/process/descendants.h"

namespace ratchet {

ExitDeadline::ExitDeadline(std::chrono::milliseconds limit, int status)
    : thread_([limit, status](const std::stop_token& called_off) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any waiting;
        waiting.wait_for(lock, called_off, limit, [] { return false; });
        if (called_off.stop_requested()) return;
        spdlog::warn("work did not end in {} ms; it is left", limit.count());
        end_descendants();
        std::_Exit(status);
      }) {}

void end_descendants() {
  end_processes(descendants_of(::getpid()));
}

}  // namespace ratchet
