#include "kernels/diagnosis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace ratchet {
namespace {

constexpr const char* kSmThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kMemoryThroughput =
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDramRead = "dram__bytes_read.sum.pct_of_peak_sustained_elapsed";
constexpr const char* kWaves = "launch__waves_per_multiprocessor";
constexpr const char* kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kTheoretical = "sm__maximum_warps_per_active_cycle_pct";

// Levels of NVIDIA's SpeedOfLight rule (sections/SpeedOfLight.py): near the limit, latency-bound
// below, and the lead that decides between two roofs. In per cent.
constexpr double kNearLimit = 80;
constexpr double kBusy = 60;
constexpr double kLead = 10;
constexpr double kLaunchBoundNs = 10'000;  // TensorRT-LLM's perf skill: shorter is launch-bound

/// The metrics of one kernel; what is missing is empty, never zero.
class Metrics {
 public:
  explicit Metrics(const std::map<std::string, double>* values) : values_(values) {}

  [[nodiscard]] std::optional<double> operator[](const std::string& name) const {
    if (!values_) return std::nullopt;
    const auto found = values_->find(name);
    return found == values_->end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<double> stall(const std::string& reason) const {
    return (*this)["smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio"];
  }
  /// Share of all warp time between two issues that went to `reason`: its ratio over the sum of
  /// those collected.
  [[nodiscard]] double stall_share(const std::string& reason) const {
    double sum = 0;
    for (const auto& [name, value] : *values_)
      if (name.find("_issue_stalled_") != std::string::npos) sum += value;
    return sum > 0 ? std::clamp(stall(reason).value_or(0) / sum, 0.0, 1.0) : 0;
  }

 private:
  const std::map<std::string, double>* values_;
};

std::string shown(std::string_view name, double value) {
  return fmt::format("{} = {:.4g}", name, value);
}

std::string both(const std::string& a, const std::string& b) {
  return a + "; " + b;
}

std::string stall_text(const std::string& reason, double value) {
  return shown("stall " + reason + " (warps per issue)", value);
}

/// Collects findings of one kernel.
class Findings {
 public:
  void add(const char* id, const char* title, std::string evidence, double headroom,
           const char* query) {
    list_.push_back({std::string("pattern-") + id, title, std::move(evidence),
                     std::clamp(headroom, 0.0, 1.0), query});
  }
  [[nodiscard]] std::vector<DiagnosisFinding> sorted() && {
    std::ranges::stable_sort(list_, std::greater{}, &DiagnosisFinding::headroom);
    return std::move(list_);
  }

 private:
  std::vector<DiagnosisFinding> list_;
};

bool has_fp64(const DiagnosisInput& input) {
  return std::ranges::find(input.dtypes, DType::f64) != input.dtypes.end();
}

// ------------------------------------------------------------------------------------ launch shape

void grid_rules(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto waves = metrics[kWaves];
  const auto grid = metrics["launch__grid_size"];
  const int sms = input.device.multiprocessors;
  if (waves && *waves < 0.5) {
    findings.add("small-grid", "The grid is too small for the device", shown(kWaves, *waves),
                 1 - *waves, "small grid fewer blocks than SMs split work");
  } else if (grid && sms > 0 && *grid < sms) {
    findings.add("small-grid", "The grid has fewer blocks than the device has SMs",
                 both(shown("launch__grid_size", *grid), shown("SMs", sms)), 1 - *grid / sms,
                 "small grid fewer blocks than SMs split work");
  }
  if (!waves || *waves <= 1) return;  // one wave has no tail; a small grid is its own finding
  const double idle = 1 - *waves / std::ceil(*waves);
  if (idle > 0.15)
    findings.add("tail-effect", "The last wave leaves SMs idle",
                 both(shown(kWaves, *waves), shown("idle share of the last wave's time", idle)),
                 idle, "tail effect wave quantization persistent kernel");
}

void balance_rule(const Metrics& metrics, Findings& findings) {
  const auto active = metrics["sm__cycles_active.avg"];
  const auto elapsed = metrics["sm__cycles_elapsed.max"];
  const auto waves = metrics[kWaves];
  const bool enough_blocks = waves && *waves >= 1;
  if (!active || !elapsed || *elapsed <= 0 || !enough_blocks) return;
  const double idle = 1 - *active / *elapsed;
  const double tail = 1 - *waves / std::ceil(*waves);
  if (idle > 0.15 && tail <= 0.15)  // else the launch figure already tells it
    findings.add(
        "tail-effect", "Blocks take unequal time and leave SMs idle",
        both(shown("sm__cycles_active.avg", *active), shown("sm__cycles_elapsed.max", *elapsed)),
        idle, "unequal blocks load imbalance tail effect");
}

void occupancy_rule(const Metrics& metrics, Findings& findings) {
  const auto achieved = metrics[kOccupancy];
  const auto theoretical = metrics[kTheoretical];
  if (!achieved || !theoretical || *theoretical <= 0 || *achieved >= *theoretical / 2) return;
  findings.add("low-achieved-occupancy", "Achieved occupancy is far below theoretical",
               both(shown(kOccupancy, *achieved), shown(kTheoretical, *theoretical)),
               // Occupancy is a means: half of the gap is a generous guess at the time in it.
               (1 - *achieved / *theoretical) / 2,
               "achieved occupancy below theoretical imbalance");
}

// ------------------------------------------------------------------------------------------ memory

void access_rules(const Metrics& metrics, Findings& findings) {
  const auto loads = metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"];
  if (loads && *loads > 0 && *loads < 60)
    findings.add("uncoalesced-loads", "Global loads use a part of each sector",
                 shown("bytes per sector of global loads, %", *loads), 1 - *loads / 100,
                 "uncoalesced global loads sectors per request coalescing");
  const auto stores = metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"];
  if (stores && *stores > 0 && *stores < 50)
    findings.add("partial-sector-stores", "Global stores write a part of each sector",
                 shown("bytes per sector of global stores, %", *stores), (1 - *stores / 100) / 2,
                 "partial sector stores strided write coalescing");
}

void dram_rules(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto waiting = metrics.stall("long_scoreboard");
  const auto dram = metrics[kDram];
  const auto read = metrics[kDramRead] ? metrics[kDramRead] : dram;
  if (waiting && dram && *waiting > 2 && *dram > 30) {
    const auto reached = input.roofline.bandwidth_fraction;
    findings.add("dram-bound-latency", "Loads wait for DRAM",
                 both(stall_text("long_scoreboard", *waiting), shown(kDram, *dram)),
                 1 - reached.value_or(*dram / 100),
                 "DRAM bound long scoreboard reduce bytes fusion");
  } else if (waiting && read && *waiting > 3 && *read < 10) {
    findings.add("latency-bound-loads", "Loads wait although DRAM is idle",
                 both(stall_text("long_scoreboard", *waiting), shown("DRAM read, %", *read)),
                 metrics.stall_share("long_scoreboard"),
                 "long scoreboard low dram more loads in flight ILP async copy");
  } else if (dram && *dram > kNearLimit) {
    findings.add("dram-bound-latency", "DRAM is near its limit", shown(kDram, *dram),
                 1 - *dram / 100, "memory bound near bandwidth limit reduce bytes");
  }
}

void shared_rules(const Metrics& metrics, Findings& findings) {
  const auto waiting = metrics.stall("short_scoreboard");
  if (waiting && *waiting > 2)
    findings.add("shared-memory-stalls", "Warps wait for shared memory",
                 stall_text("short_scoreboard", *waiting), metrics.stall_share("short_scoreboard"),
                 "short scoreboard shared memory stalls");
  const auto conflicts = metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"];
  const auto wavefronts = metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"];
  if (!conflicts || !wavefronts || *wavefronts <= 0 || *conflicts / *wavefronts <= 0.2) return;
  findings.add("bank-conflicts", "Shared-memory bank conflicts",
               both(shown("bank conflicts", *conflicts), shown("shared wavefronts", *wavefronts)),
               *conflicts / *wavefronts * metrics.stall_share("short_scoreboard"),
               "shared memory bank conflicts padding swizzle");
}

void spill_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto local = metrics["smsp__sass_inst_executed_op_local.sum"];
  const auto all = metrics["smsp__inst_executed.sum"];
  const auto spilled = input.build ? input.build->spill_bytes : std::nullopt;
  if (local && *local > 0) {
    const double share = all && *all > 0 ? *local / *all : 0;
    findings.add(
        "register-spills", "Registers spill to local memory",
        all ? both(shown("local memory instructions", *local), shown("all instructions", *all))
            : shown("local memory instructions", *local),
        share, "register spills local memory launch bounds");
  } else if (!local && spilled && *spilled > 0) {
    findings.add("register-spills", "ptxas reports spilled registers",
                 fmt::format("spill bytes = {}", *spilled), 0.05,
                 "register spills local memory launch bounds");
  }
}

// ----------------------------------------------------------------------------------- instructions

void instruction_rules(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto fma = metrics["smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"];
  const auto tensor = metrics["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"];
  if (fma && tensor && *fma > 50 && *tensor < 1)
    findings.add(
        "fma-without-tensor", "FMA pipe busy, tensor cores idle",
        both(shown("FMA pipe, %", *fma), shown("tensor pipe, %", *tensor)),
        // What tensor cores could win is only there when the work is a product of matrices.
        *fma / 100 / 2, "tensor cores idle FMA busy wgmma mma");
  const auto fp64 = metrics["sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"];
  if (fp64 && *fp64 > 1 && !has_fp64(input))
    findings.add("accidental-fp64", "Double precision in a kernel without fp64 tensors",
                 shown("fp64 pipe, %", *fp64), *fp64 / 100, "accidental fp64 double literals");
  const auto threads = metrics["smsp__thread_inst_executed_per_inst_executed.ratio"];
  if (threads && *threads > 0 && *threads < 24)
    findings.add("warp-divergence", "Few active threads per warp instruction",
                 shown("threads per instruction, of 32", *threads), 1 - *threads / 32,
                 "warp divergence branch predication");
}

void waiting_rules(const Metrics& metrics, Findings& findings) {
  const auto atom = metrics["smsp__sass_inst_executed_op_global_atom.sum"];
  const auto red = metrics["smsp__sass_inst_executed_op_global_red.sum"];
  const auto throttle = metrics.stall("lg_throttle");
  const double atomics = atom.value_or(0) + red.value_or(0);
  if (throttle && atomics > 0 && *throttle > 1)
    findings.add(
        "atomics-contention", "Global atomics contend",
        both(shown("global atomic instructions", atomics), stall_text("lg_throttle", *throttle)),
        metrics.stall_share("lg_throttle"), "atomics contention aggregation reduction");
  const auto barrier = metrics.stall("barrier");
  if (barrier && *barrier > 2)
    findings.add("barrier-stalls", "Warps wait at block barriers", stall_text("barrier", *barrier),
                 metrics.stall_share("barrier"), "barrier stalls syncthreads balance");
}

// ------------------------------------------------------------------------------------------- bound

struct Class {
  Bound bound = Bound::unknown;
  std::string evidence;
};

/// The larger of two utilisations when it leads clearly, mixed when neither does.
Bound leader(double compute, double memory) {
  if (compute - memory >= kLead) return Bound::compute;
  if (memory - compute >= kLead) return Bound::memory;
  return Bound::mixed;
}

/// From fractions of the measured ceilings, in per cent. One missing roof is no evidence against
/// it.
Class bound_by_roofs(const Roofline& roofline) {
  const auto memory = roofline.bandwidth_fraction;
  const auto compute = roofline.compute_fraction;
  std::string evidence;
  if (memory) evidence = shown("share of the bandwidth ceiling", *memory);
  if (compute) {
    const auto text = shown("share of the compute ceiling", *compute);
    evidence = evidence.empty() ? text : both(evidence, text);
  }
  if (!memory && !compute) return {Bound::unknown, "no counters, and no declared work"};
  const double m = 100 * memory.value_or(0);
  const double c = 100 * compute.value_or(0);
  if (m >= kBusy || c >= kBusy)
    return {m >= kNearLimit || c >= kNearLimit ? (m >= c ? Bound::memory : Bound::compute)
                                               : leader(c, m),
            evidence};
  if (!memory || !compute) return {Bound::unknown, evidence + "; the other roof is not known"};
  return {Bound::latency, evidence};
}

Class bound_by_counters(const Metrics& metrics, double compute, double memory) {
  const auto evidence =
      both(shown("SM throughput, %", compute), shown("memory throughput, %", memory));
  if (compute >= kNearLimit || memory >= kNearLimit)
    return {memory >= compute ? Bound::memory : Bound::compute, evidence};
  if (compute >= kBusy || memory >= kBusy) return {leader(compute, memory), evidence};
  const auto waves = metrics[kWaves];
  if (waves && *waves < 1) return {Bound::occupancy, both(evidence, shown(kWaves, *waves))};
  const auto achieved = metrics[kOccupancy];
  const auto theoretical = metrics[kTheoretical];
  if (achieved && theoretical && *achieved < *theoretical / 2)
    return {Bound::occupancy,
            both(evidence, both(shown(kOccupancy, *achieved), shown(kTheoretical, *theoretical)))};
  return {Bound::latency, evidence};
}

Class bound_of(const DiagnosisInput& input, const Metrics& metrics) {
  const double median = input.timing.median.value;
  if (input.kind == DeviceKind::cuda && median > 0 && median < kLaunchBoundNs)
    return {Bound::launch, shown("median_ns", median)};
  const auto compute = metrics[kSmThroughput];
  const auto memory = metrics[kMemoryThroughput] ? metrics[kMemoryThroughput] : metrics[kDram];
  if (compute && memory) return bound_by_counters(metrics, *compute, *memory);
  return bound_by_roofs(input.roofline);
}

/// The kernel with the longest duration; durations missing, the first.
const KernelCounters* main_kernel(std::span<const KernelCounters> kernels) {
  const KernelCounters* longest = nullptr;
  double most = -1;
  for (const auto& kernel : kernels) {
    const auto duration = kernel.metrics.find("gpu__time_duration.sum");
    const double time = duration == kernel.metrics.end() ? 0 : duration->second;
    if (time > most) {
      longest = &kernel;
      most = time;
    }
  }
  return longest;
}

void cuda_rules(const DiagnosisInput& input, const Metrics& metrics, Findings& findings) {
  const double median = input.timing.median.value;
  if (median > 0 && median < kLaunchBoundNs)
    findings.add("launch-bound", "The call is as short as its launch",
                 both(shown("median_ns", median), shown("launches per call", input.launches)),
                 // About 2.5 us of a call go into one launch on current parts.
                 std::min(1.0, 2500.0 * std::max(1, input.launches) / median),
                 "launch bound small kernel fusion cuda graph");
  grid_rules(metrics, input, findings);
  balance_rule(metrics, findings);
  occupancy_rule(metrics, findings);
  access_rules(metrics, findings);
  dram_rules(metrics, input, findings);
  shared_rules(metrics, findings);
  spill_rule(metrics, input, findings);
  instruction_rules(metrics, input, findings);
  waiting_rules(metrics, findings);
}

void host_rules(const DiagnosisInput& input, const Metrics& metrics, Findings& findings) {
  const auto memory = input.roofline.bandwidth_fraction;
  const auto compute = input.roofline.compute_fraction;
  const auto instructions = metrics["instructions"];
  const auto cycles = metrics["cycles"];
  const auto misses = metrics["LLC-load-misses"];
  const bool counted = instructions && cycles && *cycles > 0 && *instructions > 0;
  const double ipc = counted ? *instructions / *cycles : 0;
  if (memory && *memory > 0.7)
    findings.add("host-memory-bandwidth", "Memory bandwidth is near its ceiling",
                 shown("share of the bandwidth ceiling", *memory), 1 - *memory,
                 "host memory bandwidth cache blocking streaming");
  if (memory && compute && *memory < 0.5 && *compute < 0.15 && (!counted || ipc > 1.5)) {
    const auto evidence = both(shown("share of the compute ceiling", *compute),
                               shown("share of the bandwidth ceiling", *memory));
    findings.add("host-scalar-loop", "Far below both ceilings: scalar or single-threaded work",
                 counted ? both(evidence, shown("instructions per cycle", ipc)) : evidence,
                 1 - std::max(*compute, *memory),
                 "host vectorisation SIMD scalar loop OpenMP threads");
  }
  if (!counted || !misses || ipc >= 0.7 || !memory || *memory >= 0.4) return;
  const double per_thousand = 1000 * *misses / *instructions;
  if (per_thousand > 5)
    findings.add("host-cache-miss", "Loads miss the caches and wait",
                 both(shown("instructions per cycle", ipc),
                      shown("LLC load misses per 1,000 instructions", per_thousand)),
                 1 - *memory, "host cache miss latency blocking prefetch");
}

}  // namespace

Diagnosis diagnose(const DiagnosisInput& input) {
  const auto* kernel = main_kernel(input.kernels);
  static const std::map<std::string, double> none;
  const Metrics metrics(kernel ? &kernel->metrics : &none);
  Findings findings;
  if (input.kind == DeviceKind::cuda)
    cuda_rules(input, metrics, findings);
  else
    host_rules(input, metrics, findings);
  auto found = bound_of(input, metrics);
  Diagnosis diagnosis{found.bound, std::move(found.evidence), std::move(findings).sorted()};
  if (kernel && input.kernels.size() > 1) {
    for (auto& finding : diagnosis.findings) finding.evidence += "; kernel " + kernel->name;
    diagnosis.bound_evidence += "; kernel " + kernel->name;
  }
  diagnosis.bound_evidence += fmt::format(" (rules v{})", kDiagnosisRules);
  return diagnosis;
}

}  // namespace ratchet
