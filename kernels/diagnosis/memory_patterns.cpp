// The patterns of accesses: sectors, caches, DRAM, local memory, bulk copies.

#include <fmt/core.h>

#include <algorithm>

#include "kernels/diagnosis/diagnosis_patterns.h"

namespace ratchet {
namespace {

constexpr double kBigBox = 2048;  // bytes that a bulk copy should move to keep the engine busy
constexpr const char* kEngine = "sm__pipe_tma_cycles_active.avg.pct_of_peak_sustained_active";

double bytes_per_copy(const Metrics& metrics) {
  const auto bytes = metrics["l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum"];
  const auto copies = metrics["sm__sass_inst_executed_op_tma_ld.sum"];
  return bytes && copies && *copies > 0 ? *bytes / *copies : kBigBox;
}

/// Share of the waiting that is for global memory; all of it if it was not counted.
double global_share(const Metrics& metrics) {
  if (!metrics.dominant_stall()) return 1;
  return metrics.stall_share("long_scoreboard") + metrics.stall_share("lg_throttle");
}

void access_rules(const Metrics& metrics, Findings& findings) {
  const auto loads = metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"];
  const auto sectors = metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
  const auto requests = metrics[kLoadRequests];
  const bool counted = sectors && requests && *requests > 0;
  const double each = counted ? *sectors / *requests : 0;
  // A warp that reads one address uses little of its one sector, but wastes nothing.
  if (loads && *loads > 0 && *loads < kBusy && (!counted || each > 5) &&
      !loads_wait_for_reductions(metrics)) {
    std::vector<std::string> evidence{shown("bytes per sector of global loads, %", *loads)};
    if (counted) evidence.push_back(shown("sectors per request", each));
    // Where little is moved, sectors are the smaller half of what a load waits for.
    const double moved = metrics[metric::kMemory].value_or(100) / kBusy;
    const double gain = (1 - *loads / 100) * global_share(metrics) * std::clamp(moved, 0.5, 1.0);
    findings.add("uncoalesced-loads", "[C] Global loads use only part of each sector",
                 std::move(evidence), std::min(gain, left_by_compute(metrics)), kBusy / *loads);
  }
  const auto stores = metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"];
  const auto red = metrics["smsp__sass_inst_executed_op_global_red.sum"];
  // What few threads write at the end of a reduction wastes nothing that counts.
  const auto written = metrics["l1tex__m_l1tex2xbar_write_bytes.sum"];
  const auto read = metrics["l1tex__m_xbar2l1tex_read_bytes.sum"];
  const bool counted_both = written && read && *written + *read > 0;
  const double share = counted_both ? *written / (*written + *read) : 0.5;
  // Sectors load L2 and DRAM. How busy shared memory is says nothing about them.
  const auto l2 = metrics[metric::kL2];
  const double busy = l2 ? std::max(*l2, metrics[metric::kDram].value_or(0))
                         : metrics[metric::kMemory].value_or(100);
  if (stores && *stores > 0 && *stores < kBusy && red.value_or(0) <= 0 && share >= 0.05)
    findings.add("partial-sector-stores", "[D] Global stores write only part of each sector",
                 {shown("bytes per sector of global stores, %", *stores)},
                 std::min((1 - *stores / 100) * share * busy / 100, left_by_compute(metrics)),
                 kBusy / *stores);
}

/// Every byte that a load fetches is used, but there are few of them for each thread.
void narrow_rule(const Metrics& metrics, Findings& findings) {
  const auto below = [&](const char* name, double missing) {
    return metrics[name].value_or(missing) < kBusy;
  };
  const auto loads = metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"];
  // Of a sector that several loads share, each uses a part, and L1 gives the rest to the others.
  const bool shared = metrics["l1tex__t_sector_hit_rate.pct"].value_or(0) + loads.value_or(0) >= 90;
  if (!loads || (*loads < kBusy && !shared) || global_share(metrics) <= 0.5 ||
      !below(metric::kDram, 100) || !below(metric::kL1, 0) || local_share(metrics) > kMuchLocal)
    return;
  const double sectors = metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"].value_or(0);
  const double requests = metrics[kLoadRequests].value_or(0);
  const double bytes = requests > 0 ? sectors / requests * *loads / 100 : 0;
  constexpr double kNarrow = 2.1;
  if (bytes > 0 && bytes < kNarrow) {
    // Wider loads need fewer threads. Where a grid does not fill the device, these are missing
    // then.
    const double filled = std::min(1.0, metrics[metric::kWaves].value_or(1));
    findings.add("narrow-access", "Loads move one or two bytes per thread",
                 {shown("bytes per thread of global loads", bytes),
                  shown("sectors per request", sectors / requests)},
                 (1 - bytes / 4) * metrics.free_share() * filled, kNarrow / bytes);
    return;
  }
  // What a thread moves in all: wide operands that stay in L1 hide how narrow the others are.
  const auto threads = metrics["launch__thread_count"];
  const auto read = metrics["l1tex__m_xbar2l1tex_read_bytes.sum"];
  const auto written = metrics["l1tex__m_l1tex2xbar_write_bytes.sum"];
  if (!threads || *threads <= 0 || !read || !written || metrics[metric::kWaves].value_or(0) < 4 ||
      !below(metric::kSm, 100))
    return;
  const double moved = (*read + *written) / *threads;
  constexpr double kFew = 4, kEnough = 8;
  if (moved > 0 && moved < kFew)
    findings.add("narrow-access", "Each thread moves only a few bytes in all",
                 {shown("bytes moved per thread", moved), shown("threads", *threads)},
                 (1 - moved / kEnough) * metrics.free_share(), kFew / moved);
}

void l1_rule(const Metrics& metrics, Findings& findings) {
  const auto l1 = metrics[metric::kL1];
  const double loads = load_wavefronts(metrics);
  const double shared = metrics[kWavefronts].value_or(0);
  // Hits show that it is the same data.
  const bool again = metrics["l1tex__t_sector_hit_rate.pct"].value_or(0) >= 50;
  if (!l1 || *l1 < (again ? kBusy : 70) || metrics[metric::kL2].value_or(100) >= kBusy ||
      loads <= shared || local_share(metrics) > kMuchLocal || findings.has("uncoalesced-loads"))
    return;
  findings.add("l1-bound", "The same data is loaded again and again through L1",
               {shown(metric::kL1, *l1), shown(metric::kL2, metrics[metric::kL2].value_or(0)),
                shown("wavefronts of global loads", loads)},
               0.5 * *l1 / 100, *l1 / kBusy);
}

void l2_rule(const Metrics& metrics, Findings& findings) {
  const auto l2 = metrics[metric::kL2];
  const auto dram = metrics[metric::kDram];
  // Fences keep L2 busy with what they write through, which is little and need not be less.
  const bool fences = metrics.stall_share("membar") > 0.5;
  if (l2 && dram && *l2 > kBusy && *dram < 40 && !fences && !findings.has("uncoalesced-loads") &&
      !findings.has("partial-sector-stores") && local_share(metrics) <= kMuchLocal)
    findings.add("l2-bound", "L2 is near its limit",
                 {shown(metric::kL2, *l2), shown(metric::kDram, *dram)}, 0.5 * *l2 / 100,
                 std::min(*l2 / kBusy, 40 / std::max(*dram, 1.0)) * 1.1);
}

/// Waits for bulk copies look like waits for loads; the copy engine's counters distinguish them.
void bulk_rule(const Metrics& metrics, Findings& findings) {
  if (!waits_for_copies(metrics)) return;
  const double box = bytes_per_copy(metrics);
  const double engine = metrics[kEngine].value_or(0);
  const double waits = metrics.stall_share("long_scoreboard") +
                       metrics.stall_share("branch_resolving") + metrics.stall_share("sleeping");
  // Warps that ask again and again whether a copy has ended fill issue slots with no work.
  const double memory =
      std::max(metrics[metric::kDram].value_or(0), metrics[metric::kL2].value_or(0));
  const bool asks = metrics[metric::kIssue].value_or(0) >= kBusy;
  findings.add("tma-bound", "Bulk copies are too small to keep the copy engine busy",
               {shown("bytes per bulk copy", box), shown("TMA pipe, %", engine)},
               asks ? 1 - memory / 100 : waits * metrics.free_share(),
               std::max(kBigBox / std::max(box, 1.0), engine / 50));
}

void spill_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto local = metrics["smsp__sass_inst_executed_op_local.sum"];
  const auto all = metrics[metric::kInstructions];
  const auto spilled = input.build ? input.build->spill_bytes : std::nullopt;
  if (local && *local > 0) {
    std::vector<std::string> evidence{shown("local memory instructions", *local)};
    if (all) evidence.push_back(shown("all instructions", *all));
    const double share = all && *all > 0 ? *local / *all : 0.05;
    // Where they are a good part of the instructions, they also cause their part of the waits.
    const double others = metrics[kLoadRequests].value_or(0);
    const double waits = global_share(metrics) * *local / (*local + others);
    findings.add("register-spills", "[K] Registers spill to local memory", std::move(evidence),
                 std::max(share, waits * std::min(1.0, share / kMuchLocal)), 1 + share * 20);
  } else if (!local && spilled && *spilled > 0) {
    findings.add("register-spills", "[K] ptxas reports spilled registers",
                 {fmt::format("spill bytes = {}", *spilled)}, 0.05, 1);
  }
}

}  // namespace

double local_share(const Metrics& metrics) {
  const double all = metrics[metric::kInstructions].value_or(0);
  return all > 0 ? metrics["smsp__sass_inst_executed_op_local.sum"].value_or(0) / all : 0;
}

double load_wavefronts(const Metrics& metrics) {
  const double sectors = metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"].value_or(0);
  return std::max(metrics[kLoadRequests].value_or(0), sectors / 4);
}

bool waits_for_copies(const Metrics& metrics) {
  const auto copies = metrics["sm__sass_inst_executed_op_tma_ld.sum"];
  if (!copies || *copies <= 0) return false;
  const auto idle = [&](const char* name) { return metrics[name].value_or(0) < kBusy; };
  if (!idle(metric::kTensor) || !idle(metric::kDram) || !idle(metric::kL2)) return false;
  const bool small = bytes_per_copy(metrics) < kBigBox;
  // Warps that ask whether a copy has ended fill issue slots, but not the pipes of arithmetic.
  const bool works = !idle("smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active") ||
                     !idle("sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active");
  if (!idle(metric::kIssue) && (!small || works)) return false;
  return small || metrics[kEngine].value_or(0) > 50;
}

void memory_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings) {
  access_rules(metrics, findings);
  narrow_rule(metrics, findings);
  l1_rule(metrics, findings);
  l2_rule(metrics, findings);
  bulk_rule(metrics, findings);
  spill_rule(metrics, input, findings);
}

void load_patterns(const Metrics& metrics, Findings& findings) {
  const auto waiting = metrics.stall("long_scoreboard");
  const auto dram = metrics[metric::kDram];
  if (!dram || local_share(metrics) > kMuchLocal) return;
  const double returned = returned_share(metrics);
  const bool elsewhere =
      findings.has("tma-bound") || (findings.has("atomics-contention") && returned <= 0.1);
  const bool memory_idle = metrics[metric::kMemory].value_or(0) < kBusy;
  // Bytes that need not move save as much where DRAM sets the pace.
  const double fewer = *dram >= kBusy ? *dram / 200 : 0;
  // Up to half of its rate DRAM answers as fast as if it were idle.
  constexpr double kLoaded = 50;
  if (waiting && *waiting > 2 && *dram >= kLoaded) {
    findings.add("dram-bound-latency", "[M] Loads wait for DRAM",
                 {stall_text("long_scoreboard", *waiting), shown(metric::kDram, *dram)},
                 std::max(1 - *dram / 100, fewer), *dram / kLoaded);
  } else if (waiting && *waiting > 3 && memory_idle && !elsewhere) {
    // Few warps cannot hide latency: if their number is limited, that limit comes first.
    // Fences empty the first cache, so that the loads behind them wait longer.
    // So they do after a barrier of the grid, all at once.
    const bool explained = findings.has("low-achieved-occupancy") ||
                           findings.has("narrow-access") || metrics.stall_share("membar") > 0.25 ||
                           meets_at_grid_barriers(metrics) || has_uneven_warps(metrics);
    const double blame = (explained ? 0.5 : 1) * (1 - returned);
    findings.add("latency-bound-loads", "[E] Loads wait although DRAM is not busy",
                 {stall_text("long_scoreboard", *waiting), shown(metric::kDram, *dram)},
                 metrics.stall_share("long_scoreboard") * metrics.free_share() * blame,
                 std::min(*waiting / 3, 10 / std::max(*dram, 1.0) + 0.5));
  } else if (*dram > kNearLimit) {
    findings.add("dram-bound-latency", "[M] DRAM is near its limit", {shown(metric::kDram, *dram)},
                 fewer, *dram / kBusy);
  }
}

}  // namespace ratchet
