#include "kernels/diagnosis/diagnosis_metrics.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace ratchet {
namespace {

constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_issue_active.ratio";

/// The reason in a stall metric's name; empty for other metrics, and for warps that could issue.
std::string_view stall_reason(std::string_view name) {
  if (!name.starts_with(kStallPrefix) || !name.ends_with(kStallSuffix)) return {};
  name.remove_prefix(kStallPrefix.size());
  name.remove_suffix(kStallSuffix.size());
  return name == "selected" || name == "not_selected" ? std::string_view{} : name;
}

/// The knowledge query for a pattern page and the methods that treat the pattern.
struct Treatment {
  std::string_view page;
  std::string_view query;
  std::array<std::string_view, 3> methods;
};

constexpr std::array kTreatments{
    Treatment{"small-grid",
              "small grid fewer blocks than SMs split work",
              {"split_k_parallel_reduce", "stream_k_load_balancing", "launch_config"}},
    Treatment{"tail-effect",
              "tail effect wave quantization load imbalance persistent kernel",
              {"persistent_kernel", "stream_k_load_balancing", "tile_scheduler_swizzle"}},
    Treatment{"low-achieved-occupancy",
              "achieved occupancy limited by registers shared memory",
              {"register_pressure", "launch_config", "smem_register_spilling"}},
    Treatment{"uncoalesced-loads",
              "uncoalesced global loads sectors per request coalescing",
              {"coalesced_access", "data_layout", "vectorized_access"}},
    Treatment{"partial-sector-stores",
              "partial sector stores strided write coalescing",
              {"coalesced_access", "vectorized_access"}},
    Treatment{"dram-bound-latency",
              "DRAM bound long scoreboard reduce bytes fusion",
              {"kernel_fusion", "vectorized_access", "online_recomputation"}},
    Treatment{"latency-bound-loads",
              "long scoreboard low dram more loads in flight ILP async copy",
              {"multi_stage_pipeline", "async_copy", "ilp_unroll_register_tile"}},
    Treatment{"narrow-access",
              "narrow loads bytes per thread vectorized access",
              {"vectorized_access", "data_layout"}},
    Treatment{"l1-bound",
              "L1 bound repeated loads register tiling shared memory",
              {"tiling_smem", "ilp_unroll_register_tile", "vectorized_access"}},
    Treatment{"dependency-chain",
              "dependency chain independent accumulators ILP wait stall",
              {"ilp_unroll_register_tile"}},
    Treatment{
        "fence-stalls", "threadfence membar stall release acquire scope", {"reduce_sync_count"}},
    Treatment{"arithmetic-bound",
              "compute bound issue slots fewer instructions strength reduction",
              {"strength_reduce", "fma_and_fast_math", "online_recomputation"}},
    Treatment{"l2-bound",
              "L2 bound high hit rate tiling multicast",
              {"tiling_smem", "tma_multicast", "distributed_smem"}},
    Treatment{"shared-memory-stalls",
              "short scoreboard shared memory stalls",
              {"ldmatrix_stmatrix", "warp_shuffle", "vectorized_access"}},
    Treatment{"bank-conflicts",
              "shared memory bank conflicts padding swizzle",
              {"bank_conflict", "ldmatrix_stmatrix"}},
    Treatment{"register-spills",
              "register spills local memory launch bounds",
              {"register_pressure", "smem_register_spilling"}},
    Treatment{"fma-without-tensor",
              "tensor cores idle FMA busy wgmma mma",
              {"tensor_core", "mixed_precision"}},
    Treatment{"tensor-pipe-underfed",
              "tensor pipe underfed pipeline depth warp specialization",
              {"multi_stage_pipeline", "warp_specialization"}},
    Treatment{"accidental-fp64", "accidental fp64 double literals", {"fma_and_fast_math"}},
    Treatment{"special-function-bound",
              "special function unit exponential MUFU bound",
              {"mufu_ex2_softmax_replacement", "fma_and_fast_math", "strength_reduce"}},
    Treatment{"warp-divergence", "warp divergence branch predication", {"branch_eliminate"}},
    Treatment{"atomics-contention",
              "atomics contention aggregation reduction",
              {"warp_aggregated_atomics", "atomic_optimize"}},
    Treatment{"barrier-stalls",
              "barrier stalls syncthreads balance",
              {"reduce_sync_count", "warp_shuffle_sync", "asymmetric_mbarrier_sync"}},
    Treatment{"instruction-cache-miss", "instruction cache misses no instruction stall unroll", {}},
    Treatment{
        "constant-cache-miss", "constant cache miss imc indexed constant", {"cache_and_readonly"}},
    Treatment{"tma-bound",
              "TMA bound small boxes bulk copies wait on full barriers",
              {"tma_descriptor_tuning", "multi_stage_pipeline", "tma_multicast"}},
    Treatment{"launch-bound",
              "launch bound small kernel fusion cuda graph",
              {"cuda_graphs", "kernel_fusion", "pdl_overlap"}},
    Treatment{"host-memory-bandwidth", "host memory bandwidth cache blocking streaming", {}},
    Treatment{"host-scalar-loop", "host vectorization SIMD scalar loop OpenMP threads", {}},
    Treatment{"host-cache-miss", "host cache miss latency blocking prefetch", {}},
    Treatment{"host-single-thread", "host OpenMP threads parallel loop idle cores", {}},
    Treatment{"host-neighbors", "host noisy neighbors contention timing", {}},
    Treatment{"host-interpreter", "numpy Python interpreter overhead vectorize", {}},
    Treatment{"host-page-faults", "host page faults temporaries allocation numpy out", {}},
    Treatment{"host-thread-overhead", "OpenMP parallel region overhead fork join", {}},
    Treatment{"host-imbalance", "OpenMP load imbalance schedule dynamic", {}},
    Treatment{"host-strided-access", "host strided access cache line loop order blocking", {}},
    Treatment{"host-dependency-chain", "host reduction dependency chain accumulators", {}},
    Treatment{"host-divisions", "host division square root reciprocal", {"strength_reduce"}},
    Treatment{"host-math-calls", "host vector math library exponential polynomial", {}},
    Treatment{"host-atomics", "OpenMP reduction atomic contention private sums", {}},
    Treatment{"host-branches", "host branch misprediction branchless select", {"branch_eliminate"}},
};

}  // namespace

std::optional<double> Metrics::operator[](const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Metrics::stall(std::string_view reason) const {
  return (*this)[fmt::format("{}{}{}", kStallPrefix, reason, kStallSuffix)];
}

double Metrics::stall_share(std::string_view reason) const {
  double sum = 0;
  for (const auto& [name, value] : values_)
    if (!stall_reason(name).empty()) sum += value;
  return sum > 0 ? std::clamp(stall(reason).value_or(0) / sum, 0.0, 1.0) : 0;
}

std::optional<std::pair<std::string, double>> Metrics::dominant_stall() const {
  std::string most;
  double value = 0;
  for (const auto& [name, warps] : values_)
    if (const auto reason = stall_reason(name); !reason.empty() && warps > value) {
      most = reason;
      value = warps;
    }
  if (most.empty()) return std::nullopt;
  return std::pair(most, stall_share(most));
}

std::optional<double> Metrics::active_share() const {
  const auto active = (*this)["sm__cycles_active.avg"];
  const auto elapsed = (*this)["sm__cycles_elapsed.max"];
  if (!active || !elapsed || *elapsed <= 0) return std::nullopt;
  return std::clamp(*active / *elapsed, 0.0, 1.0);
}

double Metrics::duration_ns() const {
  return std::max(0.0, (*this)["gpu__time_duration.sum"].value_or(0));
}

double Metrics::free_share() const {
  double busiest = 0;
  for (const auto* name : {metric::kMemory, metric::kDram, metric::kTensor})
    busiest = std::max(busiest, (*this)[name].value_or(0));
  // Multiprocessors without work do not show how busy the others are.
  const double active = active_share().value_or(1);
  if (active > 0) busiest = std::max(busiest, (*this)[metric::kSm].value_or(0) / active);
  return std::clamp(1 - busiest / 100, 0.0, 1.0);
}

std::optional<std::string> Metrics::occupancy_limiter() const {
  std::optional<std::string> limiter;
  double fewest = 0;
  // Among equals, reasons that the source can change come first.
  for (const auto* name : {"registers", "shared_mem", "warps", "blocks"}) {
    const auto blocks = (*this)[std::string("launch__occupancy_limit_") + name];
    if (!blocks || (limiter && *blocks >= fewest)) continue;
    limiter = name;
    fewest = *blocks;
  }
  return limiter;
}

bool Metrics::small_grid(int multiprocessors) const {
  const auto waves = (*this)[metric::kWaves];
  const auto grid = (*this)[metric::kGrid];
  return (waves && *waves < 0.5) || (grid && multiprocessors > 0 && *grid < multiprocessors);
}

std::string shown(std::string_view name, double value) {
  return fmt::format("{} = {:.4g}", name, value);
}

std::string stall_text(std::string_view reason, double value) {
  return shown(fmt::format("stall {} (warps per issue)", reason), value);
}

void Findings::add(std::string_view page, std::string title, std::vector<std::string> evidence,
                   double headroom, double strength) {
  DiagnosisFinding finding;
  finding.id = "pattern-" + std::string(page);
  finding.title = std::move(title);
  finding.evidence = fmt::format("{}", fmt::join(evidence, "; "));
  finding.headroom = std::clamp(headroom, 0.0, 1.0);
  finding.confidence = strength >= 2     ? Confidence::high
                       : strength >= 1.2 ? Confidence::medium
                                         : Confidence::low;
  const auto* const treatment = std::ranges::find(kTreatments, page, &Treatment::page);
  if (treatment != kTreatments.end()) {
    finding.query = treatment->query;
    for (const auto method : treatment->methods)
      if (!method.empty()) finding.methods.emplace_back(method);
  }
  list_.push_back(std::move(finding));
}

bool Findings::has(std::string_view page) const {
  return std::ranges::any_of(
      list_, [&](const auto& finding) { return finding.id == "pattern-" + std::string(page); });
}

std::vector<DiagnosisFinding> Findings::sorted() && {
  std::ranges::stable_sort(list_, std::greater{}, &DiagnosisFinding::headroom);
  return std::move(list_);
}

}  // namespace ratchet
