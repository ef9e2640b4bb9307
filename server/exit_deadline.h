#pragma once

#include <chrono>
#include <thread>

namespace ratchet {

/// Ends the process, with all its descendants, when it has not ended within a limit: work that does
/// not look at its stop token must not keep a server alive whose client is gone.
///
/// Everything that counts is on disk by then: the ledger takes whole rows, and a job without a row
/// never happened. Destroying it calls it off.
class ExitDeadline {
 public:
  ExitDeadline(std::chrono::milliseconds limit, int status);

 private:
  std::jthread thread_;
};

/// Kills what is left below this process, in whatever session it is: nothing that a tool started
/// outlives the server. Call it when no tool is at work.
void end_descendants();

}  // namespace ratchet
