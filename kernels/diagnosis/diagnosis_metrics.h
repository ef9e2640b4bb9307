#pragma once

// Inputs and outputs of the diagnosis rules: one kernel's metrics, and findings. Values only.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/facts/profile.h"

namespace ratchet {

namespace metric {
inline constexpr const char* kSm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kMemory =
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr const char* kTensor =
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
inline constexpr const char* kIssue = "smsp__issue_active.avg.pct_of_peak_sustained_active";
inline constexpr const char* kWaves = "launch__waves_per_multiprocessor";
inline constexpr const char* kGrid = "launch__grid_size";
inline constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
inline constexpr const char* kTheoretical = "sm__maximum_warps_per_active_cycle_pct";
inline constexpr const char* kInstructions = "smsp__inst_executed.sum";
}  // namespace metric

/// The metrics of one kernel; a missing metric is empty, never zero. Borrows the map.
class Metrics {
 public:
  explicit Metrics(const std::map<std::string, double>& values) : values_(values) {}

  [[nodiscard]] std::optional<double> operator[](const std::string& name) const;
  /// Warps waiting for `reason` per issued instruction.
  [[nodiscard]] std::optional<double> stall(std::string_view reason) const;
  /// The share of all waiting due to `reason`; 0 if it was not counted.
  [[nodiscard]] double stall_share(std::string_view reason) const;
  /// The reason with the largest share, and that share; empty without stall metrics.
  [[nodiscard]] std::optional<std::pair<std::string, double>> dominant_stall() const;
  /// Share of the time in which an average multiprocessor had work.
  [[nodiscard]] std::optional<double> active_share() const;
  [[nodiscard]] double duration_ns() const;  ///< 0 if it was not counted
  /// The unused share of the busiest unit, 0..1: the most that less waiting can gain.
  [[nodiscard]] double free_share() const;
  /// What limits the blocks per multiprocessor most: registers, shared_mem, blocks or warps.
  [[nodiscard]] std::optional<std::string> occupancy_limiter() const;
  /// The grid leaves multiprocessors without a block, or most of their capacity unused.
  [[nodiscard]] bool small_grid(int multiprocessors) const;

 private:
  const std::map<std::string, double>& values_;
};

/// "name = 1.234".
[[nodiscard]] std::string shown(std::string_view name, double value);

/// `shown` for the warps that wait for `reason` per issued instruction.
[[nodiscard]] std::string stall_text(std::string_view reason, double value);

/// Collects findings of one kernel.
class Findings {
 public:
  /// `page` names a pattern page of the wiki. `strength`: the factor by which the numbers exceed
  /// the rule's threshold; 2 or more is high confidence, below 1.2 low.
  void add(std::string_view page, std::string title, std::vector<std::string> evidence,
           double headroom, double strength);
  [[nodiscard]] bool has(std::string_view page) const;
  /// By headroom, largest first.
  [[nodiscard]] std::vector<DiagnosisFinding> sorted() &&;

 private:
  std::vector<DiagnosisFinding> list_;
};

}  // namespace ratchet
