#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet {

/// A program that takes long to get ready, reads one job from standard input and ends: one of it
/// waits ready for the next job, from the first job on.
///
/// Thread rule: `run` may be called from several threads. The waiting process ends by itself after
/// half an hour, and with this object.
class WarmCompiler {
 public:
  WarmCompiler();
  ~WarmCompiler();

  /// `run_program` with `input` on standard input. `spec` decides which program waits: another one
  /// than the last is started afresh. Time before the job does not count as the program's.
  Result<Captured> run(const ProcessSpec& spec, const std::string& input,
                       std::chrono::milliseconds limit, const std::stop_token& stop);

 private:
  class Waiting;

  std::unique_ptr<Waiting> taken(const ProcessSpec& spec);

  std::mutex guard_;
  std::unique_ptr<Waiting> spare_;
};

}  // namespace ratchet
