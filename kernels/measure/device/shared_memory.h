#pragma once

#include <cstddef>
#include <utility>

#include "kernels/measure/device/gpu.h"
#include "server/core/fd.h"

namespace ratchet::measure {

/// Device memory that two processes map: one allocates it and sends the other a file descriptor of
/// this allocation. Neither can access any other memory of the other.
///
/// Ownership: mapping and handle; the memory is freed when both sides have released it. The `Gpu`
/// must outlive it. Errors: `unavailable` if driver or device cannot share memory by descriptor.
class SharedMemory {
 public:
  static Result<SharedMemory> create(const Gpu& gpu, std::size_t bytes);
  /// Maps memory that another process allocated. `bytes`: as given to `create`. The descriptor may
  /// be closed afterwards.
  static Result<SharedMemory> adopt(const Gpu& gpu, int descriptor, std::size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept
      : driver_(other.driver_),
        handle_(std::exchange(other.handle_, 0)),
        address_(std::exchange(other.address_, 0)),
        reserved_(other.reserved_) {}
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  [[nodiscard]] Result<Fd> descriptor() const;
  [[nodiscard]] std::byte* data() const;

 private:
  SharedMemory(Sharing driver, CUmemGenericAllocationHandle handle, std::size_t reserved)
      : driver_(driver), handle_(handle), reserved_(reserved) {}

  Status map(int device);

  Sharing driver_;
  CUmemGenericAllocationHandle handle_ = 0;
  CUdeviceptr address_ = 0;
  std::size_t reserved_ = 0;
};

}  // namespace ratchet::measure
