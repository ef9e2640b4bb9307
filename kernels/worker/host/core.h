#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace ratchet::worker {

/// Keeps this thread on the core it is on, until it is destroyed, so that no sample pays for moving
/// house. Does nothing where threads exist or may yet be started (an OpenMP runtime is loaded):
/// they inherit the affinity and would crowd on one core.
class CorePin {
 public:
  CorePin();
  ~CorePin();
  CorePin(const CorePin&) = delete;
  CorePin& operator=(const CorePin&) = delete;

  /// Empty when not pinned.
  [[nodiscard]] std::optional<int> core() const { return core_; }

 private:
  cpu_set_t before_;
  std::optional<int> core_;
};

/// The clock that this core runs at now, MHz: a chain of multiplications that takes three cycles
/// each on every x86 core since 2011. About 30 µs. Empty on other processors.
[[nodiscard]] std::optional<double> core_megahertz();

/// "pinned to core 1, 1 of 2 NUMA nodes" or "not pinned (threads), …".
[[nodiscard]] std::string described(const CorePin& pin);

}  // namespace ratchet::worker
