#include "kernels/worker/describe.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "kernels/worker/parallel.h"
#include "kernels/worker/small_float.h"

namespace ratchet::worker {

wire::Answered describe(const wire::ArenaLayout& layout, std::span<const std::byte> answer) {
  wire::Answered answered;
  for (const auto& buffer : layout.buffers) {
    if (buffer.role == Role::in) continue;
    const std::byte* const data = answer.data() + buffer.offset;
    std::mutex guard;
    double sum = 0;
    std::int64_t finite = 0;
    parallel_for(buffer.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
      double part = 0;
      std::int64_t counted = 0;
      for (std::int64_t i = first; i < last; ++i) {
        const double value = element(data, buffer.dtype, i);
        if (!std::isfinite(value)) continue;
        part += value * value;
        ++counted;
      }
      const std::lock_guard lock(guard);
      sum += part;
      finite += counted;
    });
    answered.rms.push_back(finite ? std::sqrt(sum / static_cast<double>(finite)) : 0);
    answered.not_finite += buffer.elements - finite;
  }
  return answered;
}

void widen(const wire::Widen& plan, std::span<const std::byte> sent, std::span<std::byte> wide) {
  for (std::size_t i = 0; i < plan.layout.buffers.size(); ++i) {
    const auto& from = plan.layout.buffers[i];
    const auto& to = plan.wide.buffers.at(i);
    if (from.role == Role::out) continue;
    const std::byte* const source = sent.data() + from.offset;
    std::byte* const target = wide.data() + to.offset;
    if (from.dtype == to.dtype) {
      std::memcpy(target, source, static_cast<std::size_t>(from.bytes()));
      continue;
    }
    parallel_for(from.elements, kLeastPart, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t k = first; k < last; ++k)
        set_element(target, to.dtype, k, element(source, from.dtype, k));
    });
  }
}

}  // namespace ratchet::worker
