#pragma once

#include "kernels/diagnosis/diagnosis.h"
#include "kernels/diagnosis/diagnosis_metrics.h"

namespace ratchet {

/// The patterns of a GPU kernel. Letters in titles are those of the fourteen patterns that
/// optimizers know by letter (A small grid … N divergence); other patterns have none.
///
/// Headroom is the share of the time that could be saved. Removing waits gains at most the unused
/// share of the busiest unit; removing that unit's wasted work can gain more. A rule whose metric
/// is missing reports nothing. Pure.
void cuda_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings);

/// Those of them that concern accesses: sectors, caches, local memory, bulk copies.
void memory_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings);

/// Waits for loads, after the patterns that explain the same waits.
void load_patterns(const Metrics& metrics, Findings& findings);

/// Share of the instructions that access local memory, and from where on it explains the traffic.
[[nodiscard]] double local_share(const Metrics& metrics);
inline constexpr double kMuchLocal = 0.1;

/// Turns that accesses of shared memory take, each of 128 bytes.
inline constexpr const char* kLoadRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
inline constexpr const char* kWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";

/// Share of them that are only for conflicts.
[[nodiscard]] double conflict_share(const Metrics& metrics);

/// Turns that global loads take in L1, of 128 bytes each.
[[nodiscard]] double load_wavefronts(const Metrics& metrics);

/// Those of them that concern pipes, lanes, and the caches of code and constants; the last ones.
void instruction_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings);

/// The patterns of a kernel on the host. Without samples or processor time, only those of the roofs
/// and of hardware counters.
void host_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings);

/// The class that follows from sorted findings, and which one; unknown without any.
struct HostClass {
  Bound bound = Bound::unknown;
  std::string evidence;
};
[[nodiscard]] HostClass host_class(const Metrics& metrics,
                                   std::span<const DiagnosisFinding> findings);

/// Instructions wait for the one before them, and every SM has a block or every warp a scheduler:
/// more parallel work within a thread is missing, not a larger grid.
[[nodiscard]] bool is_chain(const Metrics& metrics, int multiprocessors);

/// Warps end long before the block that they are part of.
[[nodiscard]] bool has_uneven_warps(const Metrics& metrics);

/// Whether anything is in shared memory.
[[nodiscard]] bool uses_shared(const Metrics& metrics);

/// Warps that wait for short operations wait for special functions or other lanes: little or
/// nothing is in shared memory.
[[nodiscard]] bool waits_short_elsewhere(const Metrics& metrics);

/// Such a chain where each warp has a scheduler for itself: idle multiprocessors would not help it.
[[nodiscard]] bool is_lone_chain(const Metrics& metrics);

/// Bulk copies are small, or fill their engine, and nothing else is busy but asking for their end.
[[nodiscard]] bool waits_for_copies(const Metrics& metrics);

/// Every SM has a block, and one reason keeps its warps waiting: a larger grid is not the first
/// thing that is missing.
[[nodiscard]] bool waits_everywhere(const Metrics& metrics, int multiprocessors);

/// A kernel of some microseconds in most of which no SM has work.
[[nodiscard]] bool is_mostly_launch(const Metrics& metrics);

/// Blocks that are resident together wait for each other, again and again.
[[nodiscard]] bool meets_at_grid_barriers(const Metrics& metrics);

/// The most that less work of the memory can gain where arithmetic sets the pace, else 1.
[[nodiscard]] double left_by_compute(const Metrics& metrics);

/// Of global loads and atomics, the share of atomics whose result is used.
[[nodiscard]] double returned_share(const Metrics& metrics);

/// Global atomics whose result is not used, for each global load.
[[nodiscard]] double atomics_per_load(const Metrics& metrics);

/// Loads share a queue with such atomics, and wait there although DRAM is idle.
[[nodiscard]] bool loads_wait_for_reductions(const Metrics& metrics);

/// Lanes that read different places of constant memory take turns. NVIDIA counts the unit that
/// serves them as part of the SM, which then looks busy although no pipe of it is.
[[nodiscard]] bool reads_constants_in_turns(const Metrics& metrics);

/// Thresholds of NVIDIA's SpeedOfLight rule (sections/SpeedOfLight.py), in per cent: above the
/// first a unit is near its limit, below the second it is not the limit.
inline constexpr double kNearLimit = 80;
inline constexpr double kBusy = 60;

/// The lead that decides between two roofs, in per cent; from the same rule.
inline constexpr double kLead = 10;

/// A share of the waiting from which on one reason explains it.
inline constexpr double kOneReason = 0.4;

/// Calls this short are mostly launch overhead (see TensorRT-LLM's performance guide).
inline constexpr double kLaunchBoundNs = 10'000;

}  // namespace ratchet
