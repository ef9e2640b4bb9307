#include "kernels/contract/work.h"

#include <fmt/core.h>

#include <algorithm>

#include "kernels/contract/where.h"
#include "kernels/source/expression.h"

namespace ratchet {

DType fastest_arithmetic(const std::vector<TensorSpec>& tensors) {
  const auto any = [&](auto matches) {
    return std::ranges::any_of(tensors, [&](const TensorSpec& one) {
      return one.role != Role::out && matches(one.dtype);
    });
  };
  for (const auto type : {DType::f8_e4m3, DType::f8_e5m2, DType::bf16, DType::f16})
    if (any([&](DType one) { return one == type; })) return type;
  if (any([](DType one) { return one == DType::i8 || one == DType::u8; }) && !any(is_floating))
    return DType::i8;
  return DType::f32;
}

Result<std::optional<WorkDone>> work_of(const Contract& contract, const Dims& dims) {
  if (!contract.work) return std::optional<WorkDone>{};
  const auto names = names_in(contract, dims);
  const auto bytes = evaluate(contract.work->bytes, names);
  if (!bytes) return bytes.error();
  const auto flops = evaluate(contract.work->flops, names);
  if (!flops) return flops.error();
  if (*bytes < 0 || *flops < 0)
    return invalid_argument(
        fmt::format("work: {} bytes and {} FLOPs; neither may be negative", *bytes, *flops),
        "Give the minimum number of bytes moved and of operations in one call.");
  return std::optional(WorkDone{*bytes, *flops, contract.work->type.value_or(DType::f32)});
}

}  // namespace ratchet
