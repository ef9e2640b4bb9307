#pragma once

#include <optional>

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// Mean clock of the multiprocessors between two stamps: cycles over time, both read on the device.
///
/// Needs no management library and no privilege. The two counters tick in 32 ns steps or coarser
/// (time) and single cycles, so that a window of 0.2 ms is exact to a percent or better.
class SmClock {
 public:
  static Result<SmClock> create();

  /// Starts a window. Waits for the device.
  Status start(Gpu& gpu);
  /// Ends the window and starts the next one at its end. MHz; empty when the device cannot tell.
  Result<std::optional<double>> turn(Gpu& gpu);

 private:
  SmClock(PinnedMemory earlier, PinnedMemory later)
      : earlier_(std::move(earlier)), later_(std::move(later)) {}
  Status take(Gpu& gpu, PinnedMemory& stamps);

  PinnedMemory earlier_, later_;
  bool swapped_ = false;
};

}  // namespace ratchet::measure
