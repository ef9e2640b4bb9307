#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/measure/gpu.h"

namespace ratchet::measure {

/// A few bytes at an address of the device.
struct SmallCopy {
  std::byte* at = nullptr;
  std::array<std::byte, 8> value{};  ///< the first `bytes` of it
  std::uint32_t bytes = 0;           ///< at most 8
};

/// Writes and reads many single elements of device memory at the price of one launch: before and
/// after every timed call some dozens are changed and looked at, which as copies of their own cost
/// five times what the call does.
///
/// Thread rule: the thread of its `Gpu`, which outlives it. `write` is queued on the legacy stream;
/// what it reads from must have been read (any wait for the device) before the next call.
class SmallCopies {
 public:
  static constexpr std::size_t kMost = 1024;  ///< at once

  static Result<SmallCopies> create();

  /// Errors: also `invalid_argument` for more than `kMost`.
  Status write(const Gpu& gpu, std::span<const SmallCopy> copies);
  /// Fills the values in; waits for the legacy stream.
  Status read(const Gpu& gpu, std::span<SmallCopy> copies);

 private:
  struct Entry {
    std::uint64_t to, from;
    std::uint32_t bytes, unused;
  };
  using Value = std::array<std::byte, 8>;

  SmallCopies(PinnedMemory entries, PinnedMemory values)
      : entries_(std::move(entries)), values_(std::move(values)) {}
  [[nodiscard]] Entry* entries() const { return static_cast<Entry*>(entries_.data()); }
  [[nodiscard]] Value* values() const { return static_cast<Value*>(values_.data()); }

  PinnedMemory entries_, values_;
};

}  // namespace ratchet::measure
