#include "kernels/worker/controls.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "kernels/worker/small_float.h"

namespace ratchet::worker {
namespace {

std::size_t place_of(const wire::Buffer& buffer) {
  return static_cast<std::size_t>(buffer.offset);
}

std::size_t size_of_all(const wire::Buffer& buffer) {
  return static_cast<std::size_t>(buffer.bytes());
}

double rounded(double value, int significand) {
  if (!std::isfinite(value) || value == 0) return value;
  const int shift = significand - 1 - std::ilogb(value);
  return std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
}

bool copy_input(const wire::ArenaLayout& layout, const wire::Buffer& output,
                std::span<const std::byte> sent, std::span<std::byte> answer) {
  const auto* const input = like_output(layout, output);
  if (!input) return false;
  std::ranges::copy(sent.subspan(place_of(*input), size_of_all(*input)), answer.begin());
  return true;
}

bool lower_precision(const wire::Buffer& output, const std::byte* expected, std::byte* answer) {
  const auto significand = smaller_significand(output.dtype);
  if (!significand) return false;
  for (std::int64_t i = 0; i < output.elements; ++i)
    set_element(answer, output.dtype, i, rounded(element(expected, output.dtype, i), *significand));
  return true;
}

bool change_signs(const wire::Buffer& output, const std::byte* expected, std::byte* answer) {
  if (!is_floating(output.dtype)) return false;
  for (std::int64_t i = 0; i < output.elements; ++i)
    set_element(answer, output.dtype, i, -element(expected, output.dtype, i));
  return true;
}

bool forge_output(const wire::Forge& plan, const wire::Buffer& output, const ControlInput& input,
                  std::span<std::byte> answer) {
  const auto element_bytes = static_cast<std::size_t>(size_of(output.dtype));
  switch (plan.control) {
    case wire::Control::zero:
      std::ranges::fill(answer, std::byte{0});
      return true;
    case wire::Control::constant:
      for (std::size_t at = 0; at < answer.size(); at += element_bytes)
        std::memcpy(&answer[at], input.other.data() + place_of(output), element_bytes);
      return true;
    case wire::Control::identity:
      return copy_input(plan.layout, output, input.sent, answer);
    case wire::Control::lower_precision:
      return lower_precision(output, input.expected.data() + place_of(output), answer.data());
    case wire::Control::sign:
      return change_signs(output, input.expected.data() + place_of(output), answer.data());
    case wire::Control::stale:
      std::ranges::copy(input.other.subspan(place_of(output), answer.size()), answer.begin());
      return true;
  }
  return false;
}

}  // namespace

std::optional<int> smaller_significand(DType type) {
  switch (type) {
    case DType::f64:
      return 24;  // float32
    case DType::f32:
      return 11;  // half precision and TF32
    case DType::f16:
    case DType::bf16:
      return 4;  // e4m3
    default:
      return std::nullopt;
  }
}

const wire::Buffer* like_output(const wire::ArenaLayout& layout, const wire::Buffer& output) {
  const auto input = std::ranges::find_if(layout.buffers, [&](const wire::Buffer& buffer) {
    return buffer.role != Role::out && buffer.dtype == output.dtype &&
           buffer.elements == output.elements;
  });
  return input == layout.buffers.end() ? nullptr : &*input;
}

bool forge(const wire::Forge& plan, const ControlInput& input, std::span<std::byte> answer) {
  std::ranges::copy(input.sent, answer.begin());
  return std::ranges::all_of(plan.layout.buffers, [&](const wire::Buffer& buffer) {
    return buffer.role == Role::in ||
           forge_output(plan, buffer, input, answer.subspan(place_of(buffer), size_of_all(buffer)));
  });
}

}  // namespace ratchet::worker
