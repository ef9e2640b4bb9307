#include "kernels/measure/small_copies.h"

namespace ratchet::measure {
namespace {

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

Error too_many() {
  return {ErrorCode::invalid_argument, "too many small copies at once", ""};
}

}  // namespace

Result<SmallCopies> SmallCopies::create() {
  auto entries = PinnedMemory::allocate(kMost * sizeof(Entry));
  if (!entries) return entries.error();
  auto values = PinnedMemory::allocate(kMost * sizeof(Value));
  if (!values) return values.error();
  return SmallCopies(*std::move(entries), *std::move(values));
}

Status SmallCopies::write(const Gpu& gpu, std::span<const SmallCopy> copies) {
  if (copies.empty()) return {};
  if (copies.size() > kMost) return too_many();
  for (std::size_t i = 0; i < copies.size(); ++i) {
    values()[i] = copies[i].value;
    entries()[i] = {address(copies[i].at), address(&values()[i]), copies[i].bytes, 0};
  }
  return gpu.small_copies(entries_.data(), static_cast<std::uint32_t>(copies.size()));
}

Status SmallCopies::read(const Gpu& gpu, std::span<SmallCopy> copies) {
  if (copies.empty()) return {};
  if (copies.size() > kMost) return too_many();
  for (std::size_t i = 0; i < copies.size(); ++i)
    entries()[i] = {address(&values()[i]), address(copies[i].at), copies[i].bytes, 0};
  if (auto queued = gpu.small_copies(entries_.data(), static_cast<std::uint32_t>(copies.size()));
      !queued)
    return queued;
  if (const auto error = cudaStreamSynchronize(nullptr); error != cudaSuccess)
    return cuda_error("cannot read single elements", error);
  for (std::size_t i = 0; i < copies.size(); ++i) copies[i].value = values()[i];
  return {};
}

}  // namespace ratchet::measure
