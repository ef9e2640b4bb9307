#include "kernels/diagnosis/diagnosis_patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ratchet {
namespace {

constexpr const char* kLoadRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
constexpr const char* kSharedAtomics = "smsp__sass_inst_executed_op_shared_atom.sum";
constexpr double kBigBox = 2048;  // bytes that a bulk copy should move to keep the engine busy
constexpr const char* kEngine = "sm__pipe_tma_cycles_active.avg.pct_of_peak_sustained_active";

double bytes_per_copy(const Metrics& metrics) {
  const auto bytes = metrics["l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum"];
  const auto copies = metrics["sm__sass_inst_executed_op_tma_ld.sum"];
  return bytes && copies && *copies > 0 ? *bytes / *copies : kBigBox;
}

// ------------------------------------------------------------------------------------ launch shape

void launch_rule(const DiagnosisInput& input, Findings& findings) {
  const double median = input.timing.median.value;
  if (median <= 0 || median >= kLaunchBoundNs) return;
  // A launch takes about 2.5 us of a call on current devices.
  findings.add("launch-bound", "The call is mostly launch overhead",
               {shown("median_ns", median), shown("launches per call", input.launches)},
               2500.0 * std::max(1, input.launches) / median, kLaunchBoundNs / median);
}

/// Share of the time in which a multiprocessor that got a block had work.
double busy_share(const Metrics& metrics, int multiprocessors) {
  const double grid = metrics[metric::kGrid].value_or(multiprocessors);
  const double reached = grid > 0 ? std::min(1.0, grid / std::max(1, multiprocessors)) : 1;
  return std::min(1.0, metrics.active_share().value_or(1) / reached);
}

void grid_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto waves = metrics[metric::kWaves];
  const auto grid = metrics[metric::kGrid];
  const int sms = input.device.multiprocessors;
  // Idle multiprocessors help no warp that has a scheduler for itself and waits for its own
  // results, and nothing that a launch takes.
  const double busy = busy_share(metrics, sms);
  if (is_lone_chain(metrics) || (busy < 0.5 && metrics.duration_ns() < kLaunchBoundNs)) return;
  if (grid && sms > 0 && *grid < sms)
    findings.add("small-grid", "[A] The grid has fewer blocks than the device has SMs",
                 {shown(metric::kGrid, *grid), shown("SMs", sms)}, (1 - *grid / sms) * busy,
                 sms / *grid);
  else if (waves && *waves < 0.5)
    findings.add("small-grid", "[A] The grid is too small for the device",
                 {shown(metric::kWaves, *waves)},
                 // Where each SM has a block and one reason keeps it waiting, more blocks are half
                 // of the way.
                 (1 - *waves) * metrics.free_share() * (waits_everywhere(metrics, sms) ? 0.5 : 1),
                 0.5 / std::max(*waves, 0.01));
}

void tail_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto waves = metrics[metric::kWaves];
  if (!waves) return;
  const double tail = 1 - *waves / std::ceil(*waves);
  const auto active = metrics.active_share();
  if (*waves < 1) {
    // A single wave has no tail, and a small grid is a separate finding. But where each SM got a
    // block, they should end together; of a short kernel much is the launch.
    const bool each = metrics[metric::kGrid].value_or(0) >= input.device.multiprocessors;
    if (!each || !active || *active > 0.5 || metrics.duration_ns() < kLaunchBoundNs) return;
    findings.add("tail-effect", "[B] A few blocks take much longer than all others",
                 {shown("share of the time in which SMs had work", *active)}, 1 - *active,
                 0.5 / *active);
  } else if (tail > 0.15) {
    const double idle = active ? std::min(tail, 1 - *active) : tail;
    if (idle <= 0.05) return;  // the last wave was short
    findings.add("tail-effect", "[B] The last wave leaves SMs idle",
                 {shown(metric::kWaves, *waves), shown("idle share", idle)}, idle, tail / 0.15);
  } else if (active && 1 - *active > 0.15) {
    findings.add("tail-effect", "[B] Blocks take unequal time and leave SMs idle",
                 {shown("share of the time in which SMs had work", *active)}, 1 - *active,
                 (1 - *active) / 0.15);
  }
}

void occupancy_rule(const Metrics& metrics, Findings& findings) {
  const auto achieved = metrics[metric::kOccupancy];
  const auto theoretical = metrics[metric::kTheoretical];
  if (!achieved || !theoretical || *theoretical <= 0) return;
  const auto limiter = metrics.occupancy_limiter();
  const bool limited = limiter && (*limiter == "registers" || *limiter == "shared_mem");
  if (*theoretical <= 25 && limited)
    findings.add(
        "low-achieved-occupancy",
        *limiter == "registers" ? "Registers limit occupancy" : "Shared memory limits occupancy",
        {shown(metric::kTheoretical, *theoretical),
         shown("launch__occupancy_limit_" + *limiter,
               metrics["launch__occupancy_limit_" + *limiter].value_or(0))},
        (1 - *theoretical / 100) * metrics.free_share(), 50 / *theoretical);
  else if (const auto block = metrics["launch__block_size"];
           block && *block <= 64 && *achieved < *theoretical / 2 &&
           metrics[metric::kWaves].value_or(1) >= 4)
    findings.add("low-achieved-occupancy",
                 "Blocks are so small that they end faster than they start",
                 {shown("launch__block_size", *block), shown(metric::kOccupancy, *achieved),
                  shown(metric::kTheoretical, *theoretical)},
                 (1 - *achieved / *theoretical) * metrics.free_share(),
                 *theoretical / 2 / std::max(*achieved, 0.1));
  else if (*achieved < *theoretical / 2 && metrics[metric::kWaves].value_or(1) >= 1)
    // Occupancy matters only indirectly: half of the gap is a generous estimate of the time.
    findings.add("low-achieved-occupancy", "[J] Achieved occupancy is far below theoretical",
                 {shown(metric::kOccupancy, *achieved), shown(metric::kTheoretical, *theoretical)},
                 (1 - *achieved / *theoretical) / 2 * metrics.free_share(),
                 *theoretical / 2 / std::max(*achieved, 0.1));
}

// ------------------------------------------------------------------------------------------ memory

/// Share of the instructions that access local memory.
double local_share(const Metrics& metrics) {
  const double all = metrics[metric::kInstructions].value_or(0);
  return all > 0 ? metrics["smsp__sass_inst_executed_op_local.sum"].value_or(0) / all : 0;
}
// From this share on, local memory explains the traffic.
constexpr double kMuchLocal = 0.1;

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
  if (loads && *loads > 0 && *loads < kBusy && (!counted || each > 5)) {
    std::vector<std::string> evidence{shown("bytes per sector of global loads, %", *loads)};
    if (counted) evidence.push_back(shown("sectors per request", each));
    findings.add("uncoalesced-loads", "[C] Global loads use only part of each sector",
                 std::move(evidence), (1 - *loads / 100) * global_share(metrics), kBusy / *loads);
  }
  const auto stores = metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"];
  const auto red = metrics["smsp__sass_inst_executed_op_global_red.sum"];
  // What few threads write at the end of a reduction wastes nothing that counts.
  const auto written = metrics["l1tex__m_l1tex2xbar_write_bytes.sum"];
  const auto read = metrics["l1tex__m_xbar2l1tex_read_bytes.sum"];
  const bool few = written && read && *written < 0.05 * (*written + *read);
  if (stores && *stores > 0 && *stores < 50 && red.value_or(0) <= 0 && !few)
    findings.add("partial-sector-stores", "[D] Global stores write only part of each sector",
                 {shown("bytes per sector of global stores, %", *stores)},
                 (1 - *stores / 100) / 2 * metrics[metric::kMemory].value_or(100) / 100,
                 50 / *stores);
}

/// Every byte that a load fetches is used, but there are few of them for each thread.
void narrow_rule(const Metrics& metrics, Findings& findings) {
  const auto below = [&](const char* name, double missing) {
    return metrics[name].value_or(missing) < kBusy;
  };
  const auto loads = metrics["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"];
  if (!loads || *loads < kBusy || global_share(metrics) <= 0.5 || !below(metric::kDram, 100) ||
      !below(metric::kL1, 0) || local_share(metrics) > kMuchLocal)
    return;
  const double sectors = metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"].value_or(0);
  const double requests = metrics[kLoadRequests].value_or(0);
  const double bytes = requests > 0 ? sectors / requests * *loads / 100 : 0;
  constexpr double kNarrow = 2.1;
  if (bytes > 0 && bytes < kNarrow) {
    findings.add("narrow-access", "Loads move one or two bytes per thread",
                 {shown("bytes per thread of global loads", bytes),
                  shown("sectors per request", sectors / requests)},
                 (1 - bytes / 4) * metrics.free_share(), kNarrow / bytes);
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

/// Turns that global loads take in L1, of 128 bytes each.
double load_wavefronts(const Metrics& metrics) {
  const double sectors = metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"].value_or(0);
  return std::max(metrics[kLoadRequests].value_or(0), sectors / 4);
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
  if (l2 && dram && *l2 > 70 && *dram < 40 && !findings.has("uncoalesced-loads") &&
      local_share(metrics) <= kMuchLocal)
    findings.add("l2-bound", "L2 is near its limit",
                 {shown(metric::kL2, *l2), shown(metric::kDram, *dram)}, 0.5 * *l2 / 100,
                 std::min(*l2 / 70, 40 / std::max(*dram, 1.0)) * 1.1);
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

void load_rules(const Metrics& metrics, Findings& findings) {
  const auto waiting = metrics.stall("long_scoreboard");
  const auto dram = metrics[metric::kDram];
  if (!dram || local_share(metrics) > kMuchLocal) return;
  const bool elsewhere = findings.has("tma-bound") || findings.has("atomics-contention");
  const bool memory_idle = metrics[metric::kMemory].value_or(0) < kBusy;
  if (waiting && *waiting > 2 && *dram > 30) {
    findings.add("dram-bound-latency", "[M] Loads wait for DRAM",
                 {stall_text("long_scoreboard", *waiting), shown(metric::kDram, *dram)},
                 1 - *dram / 100, *dram / 30);
  } else if (waiting && *waiting > 3 && memory_idle && !elsewhere) {
    // Few warps cannot hide latency: if their number is limited, that limit comes first.
    // Fences empty the first cache, so that the loads behind them wait longer.
    const bool explained = findings.has("low-achieved-occupancy") ||
                           findings.has("narrow-access") || metrics.stall_share("membar") > 0.25;
    const double blame = explained ? 0.5 : 1;
    findings.add("latency-bound-loads", "[E] Loads wait although DRAM is idle",
                 {stall_text("long_scoreboard", *waiting), shown(metric::kDram, *dram)},
                 metrics.stall_share("long_scoreboard") * metrics.free_share() * blame,
                 std::min(*waiting / 3, 10 / std::max(*dram, 1.0) + 0.5));
  } else if (*dram > kNearLimit) {
    findings.add("dram-bound-latency", "[M] DRAM is near its limit", {shown(metric::kDram, *dram)},
                 1 - *dram / 100, *dram / 60);
  }
}

/// Whether the rest of a block, for which warps wait at barriers, waits for shared memory.
bool barriers_wait_for_shared(const Metrics& metrics) {
  const double rest = 1 - metrics.stall_share("barrier");
  const double shared =
      metrics.stall_share("short_scoreboard") + metrics.stall_share("mio_throttle");
  return metrics[metric::kL1].value_or(0) >= 40 && shared > 0.5 * rest;
}

/// The share of the waiting that is for shared memory, at barriers for warps that do so as well.
double shared_share(const Metrics& metrics) {
  const double waits = metrics.stall_share("short_scoreboard");
  const double rest = 1 - metrics.stall_share("barrier");
  return barriers_wait_for_shared(metrics) && rest > 0 ? std::min(1.0, waits / rest) : waits;
}

/// Share of the wavefronts of shared memory that are only for conflicts.
double conflict_share(const Metrics& metrics) {
  const auto conflicts = metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"];
  const auto wavefronts = metrics[kWavefronts];
  return conflicts && wavefronts && *wavefronts > 0 ? std::min(1.0, *conflicts / *wavefronts) : 0;
}

void conflict_rule(const Metrics& metrics, Findings& findings) {
  const double share = conflict_share(metrics);
  if (share <= 0.2) return;
  findings.add(
      "bank-conflicts", "Shared-memory bank conflicts",
      {shown("bank conflicts, share of wavefronts", share),
       shown("shared wavefronts", metrics[kWavefronts].value_or(0))},
      share * (metrics.stall_share("short_scoreboard") + metrics.stall_share("mio_throttle")),
      share / 0.2);
}

void shared_rule(const Metrics& metrics, Findings& findings) {
  const auto waiting = metrics.stall("short_scoreboard");
  const double l1 = metrics[metric::kL1].value_or(0);
  const bool atomics =
      findings.has("atomics-contention") && metrics[kSharedAtomics].value_or(0) > 0;
  // Other users of L1 have rules of their own.
  const bool full = l1 >= kBusy && metrics[kWavefronts].value_or(0) > load_wavefronts(metrics) &&
                    !atomics && !findings.has("l1-bound") && !findings.has("uncoalesced-loads") &&
                    !findings.has("tma-bound") && !findings.has("fma-without-tensor") &&
                    local_share(metrics) <= kMuchLocal;
  if ((waiting && *waiting > 2 && !special_functions_only(metrics)) || full) {
    std::vector<std::string> evidence{stall_text("short_scoreboard", waiting.value_or(0))};
    if (full) evidence.push_back(shown(metric::kL1, l1));
    // Work that the unit need not do can save more than waits.
    findings.add("shared-memory-stalls",
                 full ? "[H] Shared memory is near its limit" : "[H] Warps wait for shared memory",
                 std::move(evidence),
                 std::max(shared_share(metrics) * metrics.free_share() * (atomics ? 0.5 : 1),
                          full ? 0.5 * l1 / 100 * (1 - conflict_share(metrics)) : 0),
                 std::max(waiting.value_or(0) / 2, full ? l1 / kBusy : 0));
  }
}

void spill_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto local = metrics["smsp__sass_inst_executed_op_local.sum"];
  const auto all = metrics[metric::kInstructions];
  const auto spilled = input.build ? input.build->spill_bytes : std::nullopt;
  if (local && *local > 0) {
    std::vector<std::string> evidence{shown("local memory instructions", *local)};
    if (all) evidence.push_back(shown("all instructions", *all));
    const double share = all && *all > 0 ? *local / *all : 0;
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

void waiting_rules(const Metrics& metrics, Findings& findings) {
  const auto atom = metrics["smsp__sass_inst_executed_op_global_atom.sum"];
  const auto red = metrics["smsp__sass_inst_executed_op_global_red.sum"];
  const auto throttle = metrics.stall("lg_throttle");
  const double atomics = atom.value_or(0) + red.value_or(0);
  if (throttle && atomics > 0 && *throttle > 1)
    // Loads queued behind atomics wait for them.
    findings.add(
        "atomics-contention", "[G] Global atomics contend",
        {shown("global atomic instructions", atomics), stall_text("lg_throttle", *throttle)},
        (metrics.stall_share("lg_throttle") + metrics.stall_share("long_scoreboard")) *
            metrics.free_share(),
        *throttle);
  const auto shared = metrics[kSharedAtomics];
  const auto all = metrics[metric::kInstructions];
  const double queue =
      metrics.stall_share("short_scoreboard") + metrics.stall_share("mio_throttle");
  // Lanes that meet at one word take turns: a part of the instructions, but most of the waits.
  if (shared && all && *shared > 0.01 * *all && queue > 0.3)
    findings.add("atomics-contention", "[G] Shared atomics contend",
                 {shown("shared atomic instructions", *shared),
                  stall_text("short_scoreboard", metrics.stall("short_scoreboard").value_or(0))},
                 queue, queue / 0.3);
  const auto fence = metrics.stall("membar");
  if (fence && *fence > 1 && metrics.stall_share("membar") > 0.1)
    findings.add("fence-stalls", "Warps wait until others can see what they wrote",
                 {stall_text("membar", *fence)},
                 metrics.stall_share("membar") * metrics.free_share(), *fence);
  const auto barrier = metrics.stall("barrier");
  // Where the slowest warps wait for a unit that is busy, so do those at the barrier.
  const bool explained = findings.has("l1-bound") || barriers_wait_for_shared(metrics);
  if (barrier && *barrier > 2)
    findings.add("barrier-stalls", "[I] Warps wait at block barriers",
                 {stall_text("barrier", *barrier)},
                 metrics.stall_share("barrier") * metrics.free_share() * (explained ? 0.5 : 1),
                 *barrier / 2);
}

}  // namespace

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

bool waits_everywhere(const Metrics& metrics, int multiprocessors) {
  const auto grid = metrics[metric::kGrid];
  if (!grid || *grid < multiprocessors) return false;
  constexpr std::array kReasons{"barrier", "long_scoreboard", "membar"};
  return is_chain(metrics, multiprocessors) || std::ranges::any_of(kReasons, [&](auto* reason) {
           return metrics.stall_share(reason) > 0.4;
         });
}

bool is_mostly_launch(const Metrics& metrics) {
  constexpr double kShort = 5000;  // ns
  constexpr double kIdle = 0.3;
  const auto active = metrics.active_share();
  return metrics.duration_ns() > 0 && metrics.duration_ns() < kShort && active && *active < kIdle;
}

void cuda_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings) {
  launch_rule(input, findings);
  grid_rule(metrics, input, findings);
  tail_rule(metrics, input, findings);
  occupancy_rule(metrics, findings);
  access_rules(metrics, findings);
  narrow_rule(metrics, findings);
  l1_rule(metrics, findings);
  l2_rule(metrics, findings);
  bulk_rule(metrics, findings);
  waiting_rules(metrics, findings);
  load_rules(metrics, findings);  // after those that explain the same stall
  conflict_rule(metrics, findings);
  spill_rule(metrics, input, findings);
  instruction_patterns(input, metrics, findings);
  shared_rule(metrics, findings);  // after those that explain why L1 is full
}

}  // namespace ratchet
