#include "kernels/contract/tolerance.h"

#include <algorithm>
#include <cmath>

#include "kernels/source/expression.h"

namespace ratchet {

wire::Tolerance default_tolerance(DType type) {
  using enum wire::AtolScale;
  switch (type) {
    case DType::f64:
      return {1e-10, 1e-9, rms, false};
    case DType::f32:
      return {1e-4, 1e-4, rms, false};
    case DType::f16:
    case DType::bf16:
      return {1e-2, 1e-2, rms, false};
    case DType::f8_e4m3:
      return {3e-2, 0.125, rms, false};
    case DType::f8_e5m2:
      return {6e-2, 0.25, rms, false};
    default:
      return {0, 0, absolute, true};
  }
}

double rounding_error(DType type) {
  using enum DType;
  switch (type) {
    case f64:
      return 0x1p-53;
    case f32:
      return 0x1p-24;
    case f16:
      return 0x1p-11;
    case bf16:
      return 0x1p-8;
    case f8_e4m3:
      return 0x1p-4;
    case f8_e5m2:
      return 0x1p-3;
    default:
      return 0;
  }
}

wire::Tolerance tolerance_for(DType type, const std::optional<double>& atol,
                              const std::optional<double>& rtol) {
  auto tolerance = default_tolerance(type);
  if (tolerance.exact) return tolerance;
  if (atol) {
    tolerance.atol = *atol;
    tolerance.scale = wire::AtolScale::absolute;
  }
  if (rtol) tolerance.rtol = *rtol;
  return tolerance;
}

double reduction_length(const Contract& contract, const Dims& dims, const wire::ArenaLayout& layout,
                        const wire::Buffer& output) {
  const auto elements = static_cast<double>(std::max<std::int64_t>(1, output.elements));
  double length = 1;
  for (const auto& buffer : layout.buffers)
    if (buffer.role != Role::out)
      length = std::max(length, static_cast<double>(buffer.elements) / elements);
  const auto flops = contract.work ? evaluate(contract.work->flops, dims) : Result<double>(0.0);
  return flops ? std::max(length, *flops / 2 / elements) : length;
}

double reduction_growth(DType type, double length) {
  constexpr double kRoom = 0x1p18;
  constexpr double kMost = 3;
  return type == DType::f32 ? std::clamp(std::sqrt(length / kRoom), 1.0, kMost) : 1.0;
}

wire::Compare comparison_plan(const Contract& contract, const Dims& dims,
                              const wire::ArenaLayout& layout, const std::optional<double>& atol,
                              const std::optional<double>& rtol) {
  wire::Compare plan{layout, {}, contract.matched_ratio.value_or(1)};
  for (const auto& buffer : layout.buffers) {
    auto tolerance = tolerance_for(buffer.dtype, atol, rtol);
    if (!atol)
      tolerance.atol *=
          reduction_growth(buffer.dtype, reduction_length(contract, dims, layout, buffer));
    plan.tolerances.push_back(tolerance);
  }
  return plan;
}

}  // namespace ratchet
