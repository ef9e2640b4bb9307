#pragma once

#include <cstddef>

#include "kernels/process/endings.h"
#include "kernels/process/worker_process.h"
#include "server/core/call_context.h"
#include "server/core/result.h"

namespace ratchet {

/// Workers that start before anybody needs them, because one on a GPU takes half a second to make
/// its context. Nothing is loaded into them, and who takes one has it alone. Those that nobody took
/// end with it.
///
/// One thread at a time. Errors: as WorkerProcess.
class SpareWorkers {
 public:
  /// Starts more until there are so many of this spec, but at most `most`, and returns how many it
  /// started. Those that a fork server makes, or that need files of their own, are left to who
  /// needs them; so is what fails.
  std::size_t keep(const WorkerSpec& spec, std::size_t count, std::size_t most);

  /// One of these that lives, which may still be starting; a new one if there is none.
  Result<WorkerProcess> take(const WorkerSpec& spec);

  /// Whether any was taken: it may have failed while it waited, which a new one would not have.
  [[nodiscard]] bool served() const { return served_; }

  /// Waits until all have started, so that they do nothing from now on. Those that could not end.
  void settle(const CallContext& call);

 private:
  EndTogether<WorkerSpec, WorkerProcess> idle_;
  bool served_ = false;
};

/// One of `spares`; a new one if there are none, or no `spares`.
[[nodiscard]] Result<WorkerProcess> launched(SpareWorkers* spares, const WorkerSpec& spec);

}  // namespace ratchet
