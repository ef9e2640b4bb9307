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
  if (auto taken = take_back(); !taken) return taken;
  pattern_ = (pattern_ + 1) & 0xff;
  if (const auto error = cudaMemsetAsync(written_.data(), pattern_, written_.bytes(), nullptr);
      error != cudaSuccess)
    return cuda_error("cannot write the buffer that flushes the caches", error);
  if (auto queued = queue_read(gpu); !queued) return queued;
  return give_back();
}

Status Flush::take_back() {
  if (cudaDeviceGetLimit(&aside_, cudaLimitPersistingL2CacheSize) != cudaSuccess) {
    (void)cudaGetLastError();  // a device without
    aside_ = 0;
  }
  if (aside_ > 0)
    if (const auto error = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
        error != cudaSuccess)
      return cuda_error("cannot take back the part of L2 that is set aside", error);
  if (const auto error = cudaCtxResetPersistingL2Cache(); error != cudaSuccess)
    return cuda_error("cannot reset persisting L2 lines", error);
  return {};
}

Status Flush::give_back() {
  if (aside_ == 0) return {};
  // The limit does not wait for work that is queued.
  if (const auto error = cudaDeviceSynchronize(); error != cudaSuccess)
    return cuda_error("cannot wait until the caches are flushed", error);
  if (const auto error = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, aside_);
      error != cudaSuccess)
    return cuda_error("cannot set aside a part of L2 again", error);
  return {};
}

Status Flush::queue_read(const Gpu& gpu) const {
  return gpu.read(read_, 1);
}

}  // namespace ratchet::measure
