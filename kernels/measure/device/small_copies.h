#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// 1, 2, 4 or 8 bytes at an address of the device that is a multiple of their number.
struct SmallCopy {
  std::byte* at = nullptr;
  std::uint64_t value = 0;  ///< its first `bytes` bytes in memory
  std::uint32_t bytes = 0;
};

/// Reads and writes many single elements of device memory at the price of a launch: before and
/// after every timed call some dozens are changed and looked at, which as copies of their own cost
/// several times what the call does.
///
/// Thread rule: the thread of its `Gpu`, which outlives it. Both are in order with the legacy
/// stream; `write` is only queued, `read` is complete on return.
class SmallCopies {
 public:
  static Result<SmallCopies> create();

  Status write(const Gpu& gpu, std::span<const SmallCopy> copies);
  /// Fills the values in.
  Status read(const Gpu& gpu, std::span<SmallCopy> copies);

 private:
  /// As measure.ptx reads it.
  struct Entry {
    std::uint64_t at, value;
    std::uint32_t bytes, unused;
  };
  static constexpr std::size_t kAtOnce = 1024;

  explicit SmallCopies(PinnedMemory memory) : memory_(std::move(memory)) {}
  [[nodiscard]] Entry* entries() const { return static_cast<Entry*>(memory_.data()); }
  /// Waits until the device has read what it was given before, then fills the entries and launches.
  Status queue(const Gpu& gpu, std::span<const SmallCopy> copies, bool write);

  PinnedMemory memory_;
};

}  // namespace ratchet::measure
