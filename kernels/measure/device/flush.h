#pragma once

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// Makes L2 cold: resets persisting lines, writes twice its size, then reads twice its size from
/// elsewhere.
///
/// The read leaves clean lines. After a write alone the code under measurement would pay for
/// writing them back: 36.5 µs against 32.2 µs for a 4096 × 4096 softmax on an H200, whose own
/// traffic alone takes 30.8 µs by its counters.
class Flush {
 public:
  static Result<Flush> create(const Gpu& gpu);

  /// Queues the work on the legacy stream.
  Status queue(const Gpu& gpu);

  /// The two steps of a flush without the write, for use under counters: every kernel is a range of
  /// its own there, and so is the reset; the read is exactly one.
  Status reset_persisting() const;
  Status queue_read(const Gpu& gpu) const;

 private:
  Flush(DeviceMemory written, DeviceMemory read)
      : written_(std::move(written)), read_(std::move(read)) {}

  DeviceMemory written_, read_;
  int pattern_ = 0;
};

}  // namespace ratchet::measure
