#include "kernels/measure/device/flush.h"

namespace ratchet::measure {

Result<Flush> Flush::create(const Gpu& gpu) {
  // Twice the cache's size: its replacement policy is not strictly least-recently-used.
  const auto bytes = 2 * static_cast<std::size_t>(gpu.facts().l2_bytes);
  auto written = DeviceMemory::allocate(bytes);
  if (!written) return written.error();
  auto read = DeviceMemory::allocate(bytes);
  if (!read) return read.error();
  if (const auto error = cudaMemset(read->data(), 0x5a, bytes); error != cudaSuccess)
    return cuda_error("cannot fill the flush buffer", error);
  return Flush(*std::move(written), *std::move(read));
}

Status Flush::queue(const Gpu& gpu) {
  if (auto reset = reset_persisting(); !reset) return reset.error();
  pattern_ = (pattern_ + 1) & 0xff;
  if (const auto error = cudaMemsetAsync(written_.data(), pattern_, written_.bytes(), nullptr);
      error != cudaSuccess)
    return cuda_error("cannot write the buffer that flushes the caches", error);
  return queue_read(gpu);
}

Status Flush::reset_persisting() const {
  if (const auto error = cudaCtxResetPersistingL2Cache(); error != cudaSuccess)
    return cuda_error("cannot reset persisting L2 lines", error);
  return {};
}

Status Flush::queue_read(const Gpu& gpu) const {
  return gpu.read(read_, 1);
}

}  // namespace ratchet::measure
