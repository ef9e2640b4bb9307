#include "kernels/worker/slice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/worker/init_text.h"
#include "kernels/worker/small_float.h"

namespace ratchet::worker {
namespace {

/// 0.5 … 1.5, negative for a quarter of the indices.
double share_of(std::int64_t index) {
  const auto mixed = static_cast<std::uint64_t>(index) * 0x9E3779B97F4A7C15ULL;
  const double share = 0.5 + static_cast<double>(mixed >> 40U) * 0x1p-24;
  return (mixed >> 32U) % 4 == 0 ? -share : share;
}

double moved(double value, double by, const InitText& init, bool floating) {
  const bool bounded = init.numbers.size() == 2;
  if (!floating) by = by < 0 ? std::floor(by) : std::ceil(by);
  if (!bounded) return value + by;
  const double low = init.numbers[0], high = init.numbers[1];
  const double there = value + by;
  return there >= low && there <= high ? there : low + high - value;
}

}  // namespace

Status move_slice(std::span<std::byte> bytes, const wire::Buffer& buffer,
                  const wire::Slice& slice) {
  const auto init = parse_init_text(buffer.init);
  const auto axes = static_cast<int>(buffer.shape.size());
  const bool flat = slice.axis < 0;
  const auto extent =
      flat ? buffer.elements
           : (slice.axis < axes ? buffer.shape[static_cast<std::size_t>(slice.axis)] : 0);
  if (!init || slice.from < 0 || slice.from >= slice.to || slice.to > extent)
    return invalid_argument("the slice lies outside " + buffer.name, "");
  std::int64_t inner = 1;
  for (int axis = slice.axis + 1; !flat && axis < axes; ++axis)
    inner *= buffer.shape[static_cast<std::size_t>(axis)];
  const bool floating = is_floating(buffer.dtype);
  const std::int64_t stride = extent * inner;
  for (std::int64_t outer = 0; outer < buffer.elements; outer += stride)
    for (std::int64_t i = outer + slice.from * inner; i < outer + slice.to * inner; ++i) {
      const double value = element(bytes.data(), buffer.dtype, i);
      set_element(bytes.data(), buffer.dtype, i,
                  moved(value, slice.amount * share_of(i), *init, floating));
    }
  return {};
}

Status change(const wire::Change& plan, std::span<const std::byte> sent,
              std::span<std::byte> changed) {
  std::ranges::copy(sent, changed.begin());
  const auto buffer =
      std::ranges::find(plan.layout.buffers, plan.changed.tensor, &wire::Buffer::name);
  if (buffer == plan.layout.buffers.end() || buffer->role == Role::out || !plan.changed.slice)
    return invalid_argument("no slice of an input called " + plan.changed.tensor, "");
  return move_slice(changed.subspan(static_cast<std::size_t>(buffer->offset),
                                    static_cast<std::size_t>(buffer->bytes())),
                    *buffer, *plan.changed.slice);
}

}  // namespace ratchet::worker
