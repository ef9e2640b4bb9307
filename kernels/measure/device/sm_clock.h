#pragma once

#include <optional>

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// Median clock of the multiprocessors between two stamps: cycles over time, both read on the
/// device.
///
/// Needs no management library and no privilege. The time counter ticks in steps of 32 ns or more,
/// the cycle counter in single cycles, so a window of 0.2 ms is accurate to a percent or better.
class SmClock {
 public:
  static Result<SmClock> create();

  /// Starts a window. Waits for the device.
  Status start(Gpu& gpu);
  /// Ends the window and starts the next one. Returns MHz; empty when the device cannot tell.
  Result<std::optional<double>> turn(Gpu& gpu);

 private:
  SmClock(PinnedMemory earlier, PinnedMemory later)
      : earlier_(std::move(earlier)), later_(std::move(later)) {}
  Status take(Gpu& gpu, PinnedMemory& stamps);

  PinnedMemory earlier_, later_;
  bool swapped_ = false;
};

}  // namespace ratchet::measure
