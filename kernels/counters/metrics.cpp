#include "kernels/counters/metrics.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ratchet {
namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::string_view, 19> kStalls{"barrier",
                                                   "branch_resolving",
                                                   "dispatch_stall",
                                                   "drain",
                                                   "gmma",
                                                   "imc_miss",
                                                   "lg_throttle",
                                                   "long_scoreboard",
                                                   "math_pipe_throttle",
                                                   "membar",
                                                   "mio_throttle",
                                                   "misc",
                                                   "no_instruction",
                                                   "not_selected",
                                                   "selected",
                                                   "short_scoreboard",
                                                   "sleeping",
                                                   "tex_throttle",
                                                   "wait"};

std::string stall(std::string_view reason) {
  return "smsp__average_warps_issue_stalled_" + std::string(reason) + "_per_issue_active.ratio";
}

Names all_stalls() {
  Names names;
  for (const auto reason : kStalls) names.push_back(stall(reason));
  return names;
}

const Names& launch_names() {
  static const Names names{"launch__block_size",
                           "launch__grid_size",
                           "launch__registers_per_thread",
                           "launch__shared_mem_per_block_static",
                           "launch__shared_mem_per_block_dynamic",
                           "launch__waves_per_multiprocessor",
                           "sm__maximum_warps_per_active_cycle_pct"};
  return names;
}

/// Position, pipes and memory in three passes on GH100. No roll-ups, because a single
/// `*__throughput` takes up to eight passes.
const Names& lean_names() {
  static const Names names{"gpu__time_duration.sum",
                           "sm__cycles_elapsed.max",
                           "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                           "dram__bytes.sum",
                           "sm__warps_active.avg.pct_of_peak_sustained_active",
                           "smsp__issue_active.avg.pct_of_peak_sustained_active",
                           "smsp__inst_executed.sum",
                           "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
                           "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                           "l1tex__t_sector_hit_rate.pct",
                           "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                           "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
                           "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
                           "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"};
  return names;
}

/// What diagnosis and roofline need beyond lean. A pass costs about 6 ms and starting to count
/// several hundred, so the set is generous.
Names overview_extra() {
  Names names{"sm__throughput.avg.pct_of_peak_sustained_elapsed",
              "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
              "lts__throughput.avg.pct_of_peak_sustained_elapsed",
              "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
              "lts__t_sector_hit_rate.pct",
              "sm__cycles_active.avg",
              "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
              "sm__warps_active.avg.per_cycle_active",
              "sm__cycles_elapsed.avg.per_second",
              "dram__bytes_read.sum",
              "dram__bytes_write.sum",
              "dram__bytes_read.sum.pct_of_peak_sustained_elapsed",
              "lts__t_bytes.sum",
              "l1tex__m_xbar2l1tex_read_bytes.sum",
              "l1tex__m_l1tex2xbar_write_bytes.sum",
              "sm__sass_data_bytes_mem_shared.sum",
              "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
              "smsp__thread_inst_executed_per_inst_executed.ratio",
              "smsp__warps_eligible.avg.per_cycle_active",
              "smsp__sass_inst_executed_op_global_atom.sum",
              "smsp__sass_inst_executed_op_global_red.sum",
              "smsp__sass_inst_executed_op_shared_atom.sum",
              "smsp__sass_inst_executed_op_local.sum",
              "smsp__sass_branch_targets.sum",
              "smsp__sass_branch_targets_threads_divergent.sum",
              "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
              "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
              "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
              "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
              "sm__pipe_tma_cycles_active.avg.pct_of_peak_sustained_active",
              "sm__sass_inst_executed_op_tma_ld.sum",
              "l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum"};
  for (const auto* kind : {"fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma"})
    names.push_back("smsp__sass_thread_inst_executed_op_" + std::string(kind) + "_pred_on.sum");
  for (const auto* source : {"bf16_dst_fp32", "fp16", "fp8", "tf32_dst_fp32", "fp64", "int8"})
    names.push_back("sm__ops_path_tensor_src_" + std::string(source) + ".sum");
  for (const auto reason : kStalls) names.push_back(stall(reason));
  return names;
}

/// The 41 metrics of kernel-profile in its order; stalls are those it collects.
Names package_names() {
  return {"sm__throughput.avg.pct_of_peak_sustained_elapsed",
          "dram__throughput.avg.pct_of_peak_sustained_elapsed",
          "dram__bytes.sum.per_second",
          "dram__bytes_read.sum.per_second",
          "dram__bytes_write.sum.per_second",
          "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum.per_second",
          "l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum.per_second",
          "lts__t_bytes.sum.per_second",
          "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
          "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
          "l1tex__t_sector_hit_rate.pct",
          "lts__t_sector_hit_rate.pct",
          "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
          "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
          "smsp__inst_executed.avg.per_cycle_active",
          "sm__warps_active.avg.pct_of_peak_sustained_active",
          "sm__maximum_warps_per_active_cycle_pct",
          "launch__block_size",
          "launch__grid_size",
          "launch__registers_per_thread",
          "launch__shared_mem_per_block_static",
          "launch__shared_mem_per_block_dynamic",
          "launch__waves_per_multiprocessor",
          "smsp__issue_active.avg.pct_of_peak_sustained_active",
          "smsp__warps_eligible.avg.per_cycle_active",
          stall("barrier"),
          stall("long_scoreboard"),
          stall("short_scoreboard"),
          stall("math_pipe_throttle"),
          stall("wait"),
          stall("no_instruction"),
          stall("not_selected"),
          "smsp__sass_branch_targets.sum",
          "smsp__sass_branch_targets_threads_divergent.sum",
          "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",
          "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed",
          "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed",
          "smsp__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
          "smsp__thread_inst_executed_per_inst_executed.ratio",
          "l1tex__data_bank_conflicts_pipe_lsu.sum",
          "sm__sass_data_bytes_mem_shared.sum.per_second"};
}

void append(Names& names, const Names& more) {
  for (const auto& name : more)
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

Names cuda_names(MetricSet set) {
  Names names;
  if (set == MetricSet::full) append(names, package_names());
  if (set == MetricSet::stalls) append(names, {"gpu__time_duration.sum"});
  if (set != MetricSet::stalls) append(names, lean_names());
  if (set == MetricSet::overview || set == MetricSet::full) append(names, overview_extra());
  if (set == MetricSet::full)
    append(names,
           {"smsp__sass_inst_executed_op_local_ld.sum", "smsp__sass_inst_executed_op_local_st.sum",
            "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
            "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "lts__t_sectors_op_atom.sum",
            "lts__t_sectors_op_red.sum", "gcc__cache_requests_type_instruction.sum",
            "smsp__inst_executed_op_ldgsts.sum", "smsp__inst_issued.sum"});
  if (set == MetricSet::full || set == MetricSet::stalls) append(names, all_stalls());
  append(names, launch_names());
  return names;
}

Names host_names(MetricSet set) {
  Names names{"cycles", "instructions", "LLC-load-misses", "task-clock"};
  if (set == MetricSet::lean) return names;
  append(names, {"branches", "branch-misses", "dTLB-load-misses", "page-faults"});
  if (set == MetricSet::overview) return names;
  append(names, {"stalled-cycles-frontend", "stalled-cycles-backend"});
  if (set == MetricSet::full)
    append(names, {"cache-references", "cache-misses", "L1-dcache-loads", "L1-dcache-load-misses",
                   "LLC-loads", "minor-faults", "context-switches", "cpu-migrations"});
  return names;
}

}  // namespace

std::vector<std::string> metric_names(MetricSet set, DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_names(set) : host_names(set);
}

std::vector<std::string> with_launch_facts(const std::vector<std::string>& names, DeviceKind kind) {
  Names all;
  append(all, names);
  if (kind == DeviceKind::host) return all;
  append(all, {"gpu__time_duration.sum"});
  append(all, launch_names());
  return all;
}

bool warm_when_timed(const std::map<std::string, double>& metrics, double input_bytes) {
  constexpr double kWarm = 0.9;
  // What is read again after it left the cache varies with where memory lies; less than everything
  // once, or than most of it, does not.
  constexpr double kVaries = 0.7;
  constexpr double kLeastBytes = 1 << 20;  // pages that are touched, descriptors, other traffic
  const auto timed = metrics.find("dram_read_when_timed.bytes");
  const auto fresh = metrics.find("dram_read_when_new.bytes");
  if (timed == metrics.end() || fresh == metrics.end()) return false;
  const bool less =
      timed->second < kWarm * fresh->second && fresh->second - timed->second > kLeastBytes;
  return less && (timed->second < input_bytes || timed->second < kVaries * fresh->second);
}

}  // namespace ratchet
