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

// A kernel's position under the measured roofs. Pure and thread-safe. Rates in bytes/s and FLOP/s.

/// Measured roofs, empty if not measured: ordinary traffic (copy); the fastest way this device
/// moves bytes (copy, read or write: the physical limit); the last-level cache; arithmetic of a
/// type.
[[nodiscard]] std::optional<double> bandwidth_ceiling(std::span<const Ceiling> ceilings);
/// Ordinary traffic of so many bytes right after a flush, as kernels are timed: between the
/// measured sizes by the logarithm, the nearest beyond them; never less than the above.
[[nodiscard]] std::optional<double> bandwidth_ceiling(std::span<const Ceiling> ceilings,
                                                      double bytes);
[[nodiscard]] std::optional<double> highest_bandwidth(std::span<const Ceiling> ceilings);
[[nodiscard]] std::optional<double> cache_ceiling(std::span<const Ceiling> ceilings);
[[nodiscard]] std::optional<double> compute_ceiling(std::span<const Ceiling> ceilings, DType type);
/// The rate that no honest kernel for data of this type exceeds. Results with float32's precision
/// can also be computed from several products of shorter types on tensor cores, each at most at
/// tf32's rate; and products of zeros draw less power, at a higher clock.
[[nodiscard]] std::optional<double> physical_compute_ceiling(std::span<const Ceiling> ceilings,
                                                             DType type);

/// Computes the position. Work comes from the contract if declared (`source` "declared_work"), else
/// from counters (dram bytes of all kernels, and their FLOPs of the type and pipe that come closest
/// to their roof; `source` "counters"). Unknown values stay
/// empty: a missing number is no evidence, never zero. `binding` is the roof with the larger
/// fraction.
[[nodiscard]] Roofline place_under_roofs(const std::optional<WorkDone>& work, Nanoseconds median,
                                         std::span<const KernelCounters> kernels,
                                         std::span<const Ceiling> ceilings);

/// The metrics of every profile: `median_ns`, and with declared work `achieved_bytes_per_s` and
/// `achieved_flops_per_s`.
[[nodiscard]] std::map<std::string, double> device_independent_metrics(const Timing& timing,
                                                                       const Roofline& roofline);

/// The physics floor: detects a cold run that beats the ceilings by more than `kPhysicsMargin`.
///
/// The bytes counted are the declared ones less `min(output_bytes, l2_bytes)`, since stores may
/// still be in the L2 when the call ends. Work whose bytes fit in the L2, and hot runs, are
/// compared with `l2_ceiling` if known and otherwise not judged by bytes. The reason's code is
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
