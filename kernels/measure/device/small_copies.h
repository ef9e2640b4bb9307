#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/measure/device/gpu.h"

namespace ratchet::measure {

/// 1, 2, 4 or 8 bytes at a naturally aligned device address.
struct SmallCopy {
  std::byte* at = nullptr;
  std::uint64_t value = 0;  ///< the first `bytes` bytes of its representation
  std::uint32_t bytes = 0;
};

/// Reads or writes many single elements of device memory with one launch. Dozens of elements are
/// changed before and checked after every timed call; as separate copies they would take several
/// times as long as the call.
///
/// Thread rule: the thread of its `Gpu`, which must outlive it. Both operations are ordered with
/// the legacy stream; `write` is only queued, `read` is complete on return.
class SmallCopies {
 public:
  static Result<SmallCopies> create();

  Status write(const Gpu& gpu, std::span<const SmallCopy> copies);
  /// Fills in the values.
  Status read(const Gpu& gpu, std::span<SmallCopy> copies);

 private:
  /// Layout shared with measure.ptx.
  struct Entry {
    std::uint64_t at, value;
    std::uint32_t bytes, unused;
  };
  static constexpr std::size_t kAtOnce = 1024;

  explicit SmallCopies(PinnedMemory memory) : memory_(std::move(memory)) {}
  [[nodiscard]] Entry* entries() const { return static_cast<Entry*>(memory_.data()); }
  /// Waits until the device has consumed the previous entries, then fills them and launches.
  Status queue(const Gpu& gpu, std::span<const SmallCopy> copies, bool write);

  PinnedMemory memory_;
};

}  // namespace ratchet::measure
