#pragma once

#include <optional>

#include "kernels/lab/lab_parts.h"

namespace ratchet {

/// Caveat of a time that is shorter than moving all tensors once takes, where no work is declared.
inline constexpr const char* kImplausiblyFast = "implausibly_fast";

/// All bytes that a kernel reads and writes at least: each input once, each output once.
[[nodiscard]] double tensor_bytes(const wire::ArenaLayout& layout);

/// What a time says beside what the device can do.
struct PhysicsVerdict {
  std::optional<Reason> reason;  ///< `faster_than_physics`, by roofs that were measured again
  bool declared = false;         ///< the task declares its work; else that is `tensor_bytes`
  bool measured_again = false;   ///< the roofs, for this time
};

/// Holds times of one job against the roofs of its device. Roofs may have been measured beside a
/// neighbor, so they are measured again, once in a job, before a kernel is called impossible. While
/// it judges, no process of the job may use the device. Borrows all that it is given.
class Physics {
 public:
  Physics(LabParts& lab, const Contract& contract, const DeviceInfo& device)
      : lab_(lab), contract_(contract), device_(device) {}

  [[nodiscard]] Result<PhysicsVerdict> judge(const Dims& dims, const Timing& timing,
                                             const CallContext& call);

 private:
  LabParts& lab_;
  const Contract& contract_;
  const DeviceInfo& device_;
  bool measured_again_ = false;
};

}  // namespace ratchet
