#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "kernels/contract/work.h"
#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/findings.h"
#include "server/facts/roofline_report.h"

namespace ratchet {

// Where a kernel stands under the measured roofs. Pure and thread-safe. Rates in bytes/s and
// FLOP/s.

/// The roof of ordinary traffic (copy), the fastest way this device moves bytes (copy, read or
/// write: what physics allows), the last-level cache, and arithmetic of a type. Empty when not
/// measured.
[[nodiscard]] std::optional<double> bandwidth_ceiling(std::span<const Ceiling> ceilings);
[[nodiscard]] std::optional<double> highest_bandwidth(std::span<const Ceiling> ceilings);
[[nodiscard]] std::optional<double> cache_ceiling(std::span<const Ceiling> ceilings);
[[nodiscard]] std::optional<double> compute_ceiling(std::span<const Ceiling> ceilings, DType type);
/// What no honest kernel for data of this type passes: float32 results to float32's precision also
/// come from several products of shorter types on tensor cores, each at most at tf32's rate.
[[nodiscard]] std::optional<double> physical_compute_ceiling(std::span<const Ceiling> ceilings,
                                                             DType type);

/// The position. Work from the contract when declared (`source` "declared_work"), else from
/// counters (dram bytes and FLOPs of all kernels, `source` "counters"). What is not known stays
/// empty: a missing number is no evidence, never zero. `binding` is the roof with the larger
/// fraction.
[[nodiscard]] Roofline place_under_roofs(const std::optional<WorkDone>& work, Nanoseconds median,
                                         std::span<const KernelCounters> kernels,
                                         std::span<const Ceiling> ceilings);

/// The metrics that every profile has: `median_ns`, and with declared work `achieved_bytes_per_s`,
/// `achieved_flops_per_s`.
[[nodiscard]] std::map<std::string, double> device_independent_metrics(const Timing& timing,
                                                                       const Roofline& roofline);

/// The physics floor: a cold run that beats the ceilings by more than `kPhysicsMargin`.
///
/// Bytes that count are the declared ones less `min(output_bytes, l2_bytes)`: stores may still be
/// in the L2 when the call ends. Work whose bytes fit in the L2, and hot runs, are held against
/// `l2_ceiling` when it is known and else not judged by bytes. The reason's code is
/// `faster_than_physics`; empty: plausible, or nothing declared.
inline constexpr double kPhysicsMargin = 0.05;
struct PhysicsCheck {
  WorkDone work;
  Nanoseconds median;
  CacheMode cache_mode = CacheMode::cold;
  std::int64_t output_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::optional<double> bandwidth_ceiling;  ///< highest_bandwidth
  std::optional<double> l2_ceiling;         ///< cache_ceiling
  std::optional<double> compute_ceiling;    ///< physical_compute_ceiling
};
[[nodiscard]] std::optional<Reason> faster_than_physics(const PhysicsCheck& check);

}  // namespace ratchet
