#include "kernels/measure/device/stream_blocker.h"

#include <atomic>
#include <cstdint>

namespace ratchet::measure {

Result<Gate> Gate::create() {
  auto ready = Event::create();
  if (!ready) return ready.error();
  auto opened = Event::create();
  if (!opened) return opened.error();
  auto stream = Stream::create();
  if (!stream) return stream.error();
  auto words = PinnedMemory::allocate(2 * sizeof(std::uint32_t));
  if (!words) return words.error();
  return Gate(*std::move(ready), *std::move(opened), *std::move(stream), *std::move(words));
}

Status Gate::close(const Gpu& gpu, std::uint64_t limit_ns) {
  std::atomic_ref(words()[0]).store(0);
  std::atomic_ref(words()[1]).store(0);
  cudaEventRecord(ready_.get(), nullptr);
  cudaStreamWaitEvent(stream_.get(), ready_.get(), 0);
  if (auto launched = gpu.gate(stream_.get(), words_.data(), limit_ns); !launched)
    return launched.error();
  cudaEventRecord(opened_.get(), stream_.get());
  if (gpu.driver().ctx_wait_event(gpu.context(), opened_.get()) != CUDA_SUCCESS)
    return Error{ErrorCode::internal, "cannot hold back the context's work", ""};
  return {};
}

bool Gate::expired() const {
  return std::atomic_ref(words()[1]).load() != 0;
}

void Gate::open() {
  std::atomic_ref(words()[0]).store(1);
}

Status Gate::pass(const Gpu& gpu) {
  open();
  return gpu.gate(nullptr, words_.data(), 0);
}

}  // namespace ratchet::measure
