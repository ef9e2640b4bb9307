#include "kernels/measure/device/stream_blocker.h"

#include <atomic>
#include <cstdint>

namespace ratchet::measure {

Result<StreamBlocker> StreamBlocker::create() {
  auto ready = Event::create();
  if (!ready) return ready.error();
  auto released = Event::create();
  if (!released) return released.error();
  auto stream = Stream::create();
  if (!stream) return stream.error();
  auto words = PinnedMemory::allocate(2 * sizeof(std::uint32_t));
  if (!words) return words.error();
  return StreamBlocker(*std::move(ready), *std::move(released), *std::move(stream),
                       *std::move(words));
}

Status StreamBlocker::block(const Gpu& gpu, std::uint64_t limit_ns) {
  std::atomic_ref(words()[0]).store(0);
  std::atomic_ref(words()[1]).store(0);
  cudaEventRecord(ready_.get(), nullptr);
  cudaStreamWaitEvent(stream_.get(), ready_.get(), 0);
  if (auto launched = gpu.block_stream(stream_.get(), words_.data(), limit_ns); !launched)
    return launched.error();
  cudaEventRecord(released_.get(), stream_.get());
  if (gpu.driver().ctx_wait_event(gpu.context(), released_.get()) != CUDA_SUCCESS)
    return Error{ErrorCode::internal, "cannot block the streams of the context"};
  return {};
}

bool StreamBlocker::expired() const {
  return std::atomic_ref(words()[1]).load() != 0;
}

void StreamBlocker::release() {
  std::atomic_ref(words()[0]).store(1);
}

Status StreamBlocker::mark(const Gpu& gpu) {
  release();
  return gpu.block_stream(nullptr, words_.data(), 0);
}

}  // namespace ratchet::measure
