#pragma once

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// Makes L2 cold: resets persisting lines, writes twice the cache's size, then reads as much from
/// another buffer.
///
/// The read leaves clean lines. After a write alone the code under measurement would pay for the
/// write-back: 36.5 µs instead of 32.2 µs for a 4096 × 4096 softmax on an H200, whose own traffic
/// takes 30.8 µs according to its counters.
class Flush {
 public:
  static Result<Flush> create(const Gpu& gpu);

  /// Queues the flush on the legacy stream.
  Status queue(const Gpu& gpu);

  /// The steps of a flush without the write, for use under counters, where every kernel is a range:
  /// the reset must stay outside the counted pass, and the read is exactly one range.
  Status reset_persisting() const;
  Status queue_read(const Gpu& gpu) const;

 private:
  Flush(DeviceMemory written, DeviceMemory read)
      : written_(std::move(written)), read_(std::move(read)) {}

  DeviceMemory written_, read_;
  int pattern_ = 0;
};

}  // namespace ratchet::measure
