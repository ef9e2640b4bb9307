#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kernels/measure/device/gpu.h"
#include "server/core/fd.h"

namespace ratchet::measure {

/// Device memory that two processes map: one allocates it and sends the other file descriptors of
/// its pieces, which both map one after the other. Neither can access any other memory of the
/// other.
///
/// Ownership: mapping and handles; the memory is freed when both sides have released it. The `Gpu`
/// must outlive it. Errors: `unavailable` if driver or device cannot share memory by descriptor.
class SharedMemory {
 public:
  /// In one piece.
  static Result<SharedMemory> create(const Gpu& gpu, std::size_t bytes);
  /// `count` memories of pieces of these sizes. Neighbors in memory are alike, so the first pieces
  /// of all memories lie beside each other and are dealt at random, then the second ones, and so
  /// on: no memory is much better than another.
  static Result<std::vector<SharedMemory>> deal(const Gpu& gpu,
                                                std::span<const std::int64_t> pieces,
                                                std::size_t count);
  /// Maps memory that another process allocated: all of its descriptors in order, and the sizes of
  /// its pieces. The descriptors may be closed afterwards.
  static Result<SharedMemory> adopt(const Gpu& gpu, std::span<const Fd> descriptors,
                                    std::span<const std::int64_t> pieces);

  SharedMemory(SharedMemory&& other) noexcept
      : driver_(other.driver_),
        handles_(std::exchange(other.handles_, {})),
        address_(std::exchange(other.address_, 0)),
        pieces_(std::move(other.pieces_)) {}
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  /// Of the pieces, in order.
  [[nodiscard]] Result<std::vector<Fd>> descriptors() const;
  [[nodiscard]] std::byte* data() const;
  /// All that is mapped: the pieces rounded up to what can be allocated.
  [[nodiscard]] std::size_t bytes() const;

 private:
  using Handle = CUmemGenericAllocationHandle;

  SharedMemory(const Sharing& driver, std::vector<std::size_t> pieces)
      : driver_(driver), pieces_(std::move(pieces)) {}

  /// The next one.
  Status add_piece(int device);
  /// All pieces, once they are there.
  Status map(int device);

  Sharing driver_;
  std::vector<Handle> handles_;
  CUdeviceptr address_ = 0;
  std::vector<std::size_t> pieces_;  ///< bytes
};

}  // namespace ratchet::measure
