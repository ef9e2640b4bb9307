#pragma once

#include <cstdint>

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// Blocks all streams of a context: work queued while blocked starts at the release. This keeps
/// the host's launch speed out of the measurement.
///
/// A call that waits for the device cannot return while the streams are blocked; after a time limit
/// the blocker releases them by itself and reports it. Thread rule: the thread of its `Gpu`.
class StreamBlocker {
 public:
  static Result<StreamBlocker> create();

  /// Queues the blocking kernel after all work so far and before all later work.
  Status block(const Gpu& gpu, std::uint64_t limit_ns);
  /// Whether the time limit released the streams. Call before `release`.
  [[nodiscard]] bool expired() const;
  void release();

  /// Launches the kernel already released, on the legacy stream: a marker in activity records.
  Status mark(const Gpu& gpu);

 private:
  StreamBlocker(Event ready, Event released, Stream stream, PinnedMemory words)
      : ready_(std::move(ready)),
        released_(std::move(released)),
        stream_(std::move(stream)),
        words_(std::move(words)) {}
  [[nodiscard]] std::uint32_t* words() const { return static_cast<std::uint32_t*>(words_.data()); }

  Event ready_, released_;
  Stream stream_;
  PinnedMemory words_;  ///< {released, expired}, see measure.ptx
};

/// Name of the blocking kernel in activity records.
inline constexpr const char* kBlockerKernel = "ratchet_stream_blocker";

/// A call that only queues work returns within tens of microseconds; 20 ms allows for a busy host.
inline constexpr std::uint64_t kShortBlockNs = 20'000'000;

}  // namespace ratchet::measure
