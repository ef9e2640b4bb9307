#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace ratchet::worker {

/// Pins this thread to its current core for the lifetime of the object, so that no sample pays for
/// a migration. Does nothing if other threads exist or may be started (an OpenMP runtime is
/// loaded): they would inherit the affinity and share one core.
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

/// The current clock of this core in MHz, from a chain of multiplications that take three cycles
/// each on every x86 core since 2011. Takes about 30 µs. Empty on other processors.
[[nodiscard]] std::optional<double> core_megahertz();

/// How long this process's threads have been ready to run while others held the cores, ns. Empty
/// where the system does not say.
[[nodiscard]] std::optional<double> run_delay_ns();

/// "pinned to core 1, 1 of 2 NUMA nodes" or "not pinned (threads), …".
[[nodiscard]] std::string described(const CorePin& pin);

}  // namespace ratchet::worker
