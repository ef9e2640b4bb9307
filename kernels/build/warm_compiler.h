#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "kernels/process/confinement.h"
#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet {

/// Keeps one process of a slow-starting program ready: the program reads one job from standard
/// input and exits, so a new one is started ahead for the next job, from the first job on.
///
/// Thread rule: `run` may be called from several threads. The waiting process exits by itself after
/// half an hour, and with this object.
class WarmCompiler {
 public:
  WarmCompiler();
  ~WarmCompiler();

  /// `run_grouped` with `input` on standard input. If `spec` differs from the waiting process's, a
  /// new process is started. Time before the job does not count toward `limit`.
  Result<ConfinedRun> run(const ProcessSpec& spec, const std::string& input,
                          std::chrono::milliseconds limit, const std::stop_token& stop);

 private:
  class Waiting;

  std::unique_ptr<Waiting> taken(const ProcessSpec& spec);

  std::mutex guard_;
  std::unique_ptr<Waiting> spare_;
};

}  // namespace ratchet
