#include "kernels/contract/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "kernels/contract/call_signature.h"
#include "kernels/contract/input_init.h"
#include "kernels/contract/where.h"
#include "kernels/source/expression.h"

namespace ratchet {
namespace {

constexpr std::int64_t aligned(std::int64_t offset) {
  return (offset + wire::kAlignment - 1) / wire::kAlignment * wire::kAlignment;
}

Error too_large(const TensorSpec& tensor) {
  return Error{ErrorCode::too_large,
               fmt::format("tensor {}: the buffers of one case exceed {} GiB", tensor.name,
                           kMaxArenaBytes >> 30),
               "Use smaller dims."};
}

struct Extents {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
};

Result<Extents> extents_of(const TensorSpec& tensor, const Dims& names) {
  Extents extents;
  auto& elements = extents.elements;
  for (const auto& extent : tensor.shape) {
    const auto value = evaluate_integer(extent, names);
    if (!value)
      return Error{value.error().code,
                   fmt::format("tensor {}: {}", tensor.name, value.error().message),
                   value.error().hint};
    if (*value < 1)
      return invalid_argument(
          fmt::format("tensors.{}.shape: the extent \"{}\" is {} at these sizes", tensor.name,
                      extent, *value),
          "Every extent must be at least 1.");
    if (__builtin_mul_overflow(elements, *value, &elements) || elements > kMaxArenaBytes)
      return too_large(tensor);
    extents.shape.push_back(*value);
  }
  return extents;
}

}  // namespace

Result<wire::ArenaLayout> layout_of(const Contract& contract, const Dims& dims) {
  wire::ArenaLayout layout;
  std::int64_t cursor = wire::kGuardBytes;
  const auto names = names_in(contract, dims);
  const auto state = state_tensors(contract);
  for (const auto& tensor : contract.tensors) {
    const auto extents = extents_of(tensor, names);
    if (!extents) return extents.error();
    const auto init = parse_init(tensor.init, tensor.dtype, names, index_limit(dims));
    if (!init)
      return Error{init.error().code,
                   fmt::format("tensor {}: {}", tensor.name, init.error().message),
                   init.error().hint};
    // Small integers that nothing calls indices are values, of either sign.
    const bool values = contract.judge && init->kind == InitKind::normal &&
                        (tensor.dtype == DType::i8 || tensor.dtype == DType::i16);
    wire::Buffer buffer{tensor.name,
                        tensor.dtype,
                        tensor.role,
                        values ? std::string(tensor.dtype == DType::i8 ? "integers(-128,127)"
                                                                       : "integers(-32768,32767)")
                               : canonical(*init),
                        aligned(cursor),
                        extents->elements,
                        extents->shape,
                        tensor.role == Role::in && state.contains(tensor.name)};
    cursor = buffer.offset + buffer.bytes() + wire::kGuardBytes;
    if (cursor > kMaxArenaBytes) return too_large(tensor);
    layout.buffers.push_back(std::move(buffer));
  }
  layout.bytes = aligned(cursor);
  return layout;
}

std::vector<wire::Argument> arguments_of(const Contract& contract, const Dims& dims,
                                         const wire::ArenaLayout& layout) {
  std::vector<wire::Argument> arguments;
  for (const auto& parameter : contract.parameters) {
    wire::Argument argument;
    argument.name = parameter.name;
    argument.kind = parameter.kind;
    argument.dtype = parameter.dtype;
    if (parameter.kind == ParameterKind::tensor) {
      const auto buffer = std::ranges::find(layout.buffers, parameter.name, &wire::Buffer::name);
      if (buffer != layout.buffers.end()) argument.offset = buffer->offset;
    } else if (parameter.kind == ParameterKind::dim) {
      const auto dim = dims.find(parameter.name);
      if (dim != dims.end()) argument.integer = dim->second;
    } else if (parameter.kind == ParameterKind::scalar) {
      argument.real = parameter.value.value_or(0);
      if (!is_floating(parameter.dtype))
        argument.integer = static_cast<std::int64_t>(argument.real);
    }
    arguments.push_back(argument);
  }
  return arguments;
}

wire::ArenaLayout widened(const wire::ArenaLayout& layout) {
  wire::ArenaLayout wide;
  std::int64_t cursor = wire::kGuardBytes;
  for (auto buffer : layout.buffers) {
    if (is_floating(buffer.dtype)) buffer.dtype = DType::f64;
    buffer.offset = aligned(cursor);
    cursor = buffer.offset + buffer.bytes() + wire::kGuardBytes;
    wide.buffers.push_back(std::move(buffer));
  }
  wide.bytes = aligned(cursor);
  return wide;
}

std::int64_t output_bytes(const wire::ArenaLayout& layout) {
  std::int64_t bytes = 0;
  for (const auto& buffer : layout.buffers)
    if (buffer.role != Role::in) bytes += buffer.bytes();
  return bytes;
}

}  // namespace ratchet
