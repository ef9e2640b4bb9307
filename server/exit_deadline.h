#pragma once

#include <chrono>
#include <thread>

namespace ratchet {

/// Ends the process and all its descendants if it has not ended within a limit: work that ignores
/// its stop token must not keep a server alive after its client is gone.
///
/// Nothing is lost: the ledger records whole rows, and work without a row has no effect. The
/// destructor cancels the deadline.
class ExitDeadline {
 public:
  ExitDeadline(std::chrono::milliseconds limit, int status);

 private:
  std::jthread thread_;
};

/// Kills all descendants of this process, whatever their session, so that nothing that a tool
/// started outlives the server. Call it when no tool is running.
void end_descendants();

}  // namespace ratchet
