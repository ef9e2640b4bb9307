#pragma once

#include <cstdint>

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// Holds back a context: what is queued on any stream while the gate is closed starts when it
/// opens. So the host's speed in queueing is not in what is measured.
///
/// A call that waits for the device cannot return while the gate is closed; after its limit the
/// gate lets go by itself and says so. Thread rule: the thread of its `Gpu`.
class Gate {
 public:
  static Result<Gate> create();

  /// Queues the gate behind all work so far and in front of all work to come.
  Status close(const Gpu& gpu, std::uint64_t limit_ns);
  /// True when it let go by itself. Ask before `open`.
  [[nodiscard]] bool expired() const;
  void open();

  /// Launches it open, on the legacy stream: a mark in the records of what the device does.
  Status pass(const Gpu& gpu);

 private:
  Gate(Event ready, Event opened, Stream stream, PinnedMemory words)
      : ready_(std::move(ready)),
        opened_(std::move(opened)),
        stream_(std::move(stream)),
        words_(std::move(words)) {}
  [[nodiscard]] std::uint32_t* words() const { return static_cast<std::uint32_t*>(words_.data()); }

  Event ready_, opened_;
  Stream stream_;
  PinnedMemory words_;  ///< {open, expired}, see measure.ptx
};

/// Name of the kernel that `close` launches, as activity records show it.
inline constexpr const char* kGateKernel = "ratchet_gate";

/// A call that only queues work returns within tens of microseconds; 20 ms leave room for a busy
/// host.
inline constexpr std::uint64_t kQuickGateNs = 20'000'000;

}  // namespace ratchet::measure
