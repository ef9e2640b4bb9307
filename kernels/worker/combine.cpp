#include "kernels/worker/combine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/worker/parallel.h"
#include "kernels/worker/small_float.h"

namespace ratchet::worker {

void combine(const wire::Combine& plan, std::span<const std::byte> first,
             std::span<const std::byte> second, std::span<std::byte> combined) {
  std::ranges::copy(first, combined.begin());
  for (const auto& buffer : plan.layout.buffers) {
    const bool named = std::ranges::find(plan.names, buffer.name) != plan.names.end();
    if (!named || !is_floating(buffer.dtype)) continue;
    const auto* const a = first.data() + buffer.offset;
    const auto* const b = second.data() + buffer.offset;
    auto* const to = combined.data() + buffer.offset;
    const bool sum = plan.how == wire::Combination::sum;
    parallel_for(buffer.elements, kLeastPart, [&](std::int64_t from, std::int64_t end) {
      for (std::int64_t i = from; i < end; ++i) {
        const double value = element(a, buffer.dtype, i);
        set_element(to, buffer.dtype, i,
                    sum ? value + element(b, buffer.dtype, i) : std::fabs(value));
      }
    });
  }
}

}  // namespace ratchet::worker
