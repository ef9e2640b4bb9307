#include "kernels/tolerance.h"

namespace ratchet {

job::Tolerance default_tolerance(DType type) {
  using enum job::AtolScale;
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

job::Tolerance tolerance_for(DType type, const std::optional<double>& atol,
                             const std::optional<double>& rtol) {
  auto tolerance = default_tolerance(type);
  if (tolerance.exact) return tolerance;
  if (atol) {
    tolerance.atol = *atol;
    tolerance.scale = job::AtolScale::absolute;
  }
  if (rtol) tolerance.rtol = *rtol;
  return tolerance;
}

}  // namespace ratchet
