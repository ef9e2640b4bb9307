#include "kernels/lab/physics.h"

#include <vector>

#include "kernels/contract/layout.h"
#include "kernels/contract/work.h"
#include "kernels/diagnosis/roofline.h"

namespace ratchet {

double tensor_bytes(const wire::ArenaLayout& layout) {
  double bytes = 0;
  for (const auto& buffer : layout.buffers)
    bytes += static_cast<double>(buffer.bytes()) * (buffer.role == Role::inout ? 2 : 1);
  return bytes;
}

Result<PhysicsVerdict> Physics::judge(const Dims& dims, const Timing& timing,
                                      const CallContext& call) {
  auto work = work_of(contract_, dims);
  if (!work) return work.error();
  const auto layout = layout_of(contract_, dims);
  if (!layout) return layout.error();
  PhysicsVerdict verdict;
  verdict.declared = work->has_value();
  if (!verdict.declared) *work = WorkDone{tensor_bytes(*layout), 0, DType::f32};
  const auto reason = [&](const std::vector<Ceiling>& roofs) {
    return faster_than_physics({**work, timing.median, timing.cache_mode, output_bytes(*layout),
                                device_.l2_bytes, highest_bandwidth(roofs), cache_ceiling(roofs),
                                physical_compute_ceiling(roofs, (*work)->type)});
  };
  auto roofs = lab_.measured_ceilings(contract_.device, contract_.device_kind, false, call);
  if (!roofs) return roofs.error();
  verdict.reason = reason(*roofs);
  if (!verdict.reason || measured_again_) return verdict;
  roofs = lab_.measured_ceilings(contract_.device, contract_.device_kind, true, call);
  if (!roofs) return roofs.error();
  measured_again_ = verdict.measured_again = true;
  verdict.reason = reason(*roofs);
  return verdict;
}

}  // namespace ratchet
