#include "kernels/measure/device/small_copies.h"

#include <algorithm>

namespace ratchet::measure {
namespace {

Status wait() {
  if (const auto error = cudaStreamSynchronize(nullptr); error != cudaSuccess)
    return cuda_error("cannot copy single elements between host and device", error);
  return {};
}

}  // namespace

Result<SmallCopies> SmallCopies::create() {
  auto memory = PinnedMemory::allocate(kAtOnce * sizeof(Entry));
  if (!memory) return memory.error();
  return SmallCopies(*std::move(memory));
}

Status SmallCopies::queue(const Gpu& gpu, std::span<const SmallCopy> copies, bool write) {
  if (auto done = wait(); !done) return done;
  for (std::size_t i = 0; i < copies.size(); ++i)
    entries()[i] = {reinterpret_cast<std::uintptr_t>(copies[i].at), copies[i].value,
                    copies[i].bytes, 0};
  return gpu.small_copies(entries(), static_cast<std::uint32_t>(copies.size()), write);
}

Status SmallCopies::write(const Gpu& gpu, std::span<const SmallCopy> copies) {
  for (std::size_t i = 0; i < copies.size(); i += kAtOnce) {
    const auto some = copies.subspan(i, std::min(kAtOnce, copies.size() - i));
    if (auto queued = queue(gpu, some, true); !queued) return queued;
  }
  return {};
}

Status SmallCopies::read(const Gpu& gpu, std::span<SmallCopy> copies) {
  for (std::size_t i = 0; i < copies.size(); i += kAtOnce) {
    const auto some = copies.subspan(i, std::min(kAtOnce, copies.size() - i));
    if (auto queued = queue(gpu, some, false); !queued) return queued;
    if (auto done = wait(); !done) return done;
    for (std::size_t k = 0; k < some.size(); ++k) some[k].value = entries()[k].value;
  }
  return {};
}

}  // namespace ratchet::measure
