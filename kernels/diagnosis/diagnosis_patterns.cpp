#include "kernels/diagnosis/diagnosis_patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ratchet {
namespace {

constexpr const char* kSharedAtomics = "smsp__sass_inst_executed_op_shared_atom.sum";

// ------------------------------------------------------------------------------------ launch shape

void launch_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const double median = input.timing.median.value;
  if (median <= 0 || median >= kLaunchBoundNs) return;
  // An empty kernel takes 4.4 us of a call on cold caches (H200), of which a busy one hides a part.
  const bool busy =
      metrics[metric::kSm].value_or(0) >= kBusy || metrics[metric::kMemory].value_or(0) >= kBusy;
  const double launch = busy ? 2500 : 4400;
  std::vector<std::string> evidence{shown("median_ns", median),
                                    shown("launches per call", input.launches)};
  if (!metrics[metric::kSm] && !metrics[metric::kMemory])
    evidence.emplace_back("no unit was counted");
  findings.add("launch-bound", "The call is mostly launch overhead", std::move(evidence),
               launch * std::max(1, input.launches) / median, kLaunchBoundNs / median);
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
  // Blocks that wait for each other wait for more of them in a larger grid.
  const double apart = meets_at_grid_barriers(metrics) ? 1 - metrics.stall_share("barrier") : 1;
  if (grid && sms > 0 && *grid < sms)
    findings.add("small-grid", "[A] The grid has fewer blocks than the device has SMs",
                 {shown(metric::kGrid, *grid), shown("SMs", sms)}, (1 - *grid / sms) * busy * apart,
                 sms / *grid);
  else if (waves && *waves < 0.5)
    findings.add("small-grid", "[A] The grid is too small for the device",
                 {shown(metric::kWaves, *waves)},
                 // Where each SM has a block and one reason keeps it waiting, more blocks are half
                 // of the way; and they wait for the same instructions.
                 (1 - *waves) * metrics.free_share() * (waits_everywhere(metrics, sms) ? 0.5 : 1) *
                     (1 - metrics.stall_share("no_instruction")) * apart,
                 0.5 / std::max(*waves, 0.01));
}

void tail_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto waves = metrics[metric::kWaves];
  if (!waves) return;
  const double tail = 1 - *waves / std::ceil(*waves);
  const auto active = metrics.active_share();
  if (*waves < 1) {
    // A single wave has no tail, and SMs without a block are a separate finding. But those that got
    // one should end together; of a short kernel much is the launch.
    const double idle = 1 - busy_share(metrics, input.device.multiprocessors);
    if (!active || idle <= 0.15 || metrics.duration_ns() < kLaunchBoundNs) return;
    findings.add("tail-effect", "[B] Some blocks take much longer than others",
                 {shown("share of the time in which SMs had work", *active),
                  shown(metric::kGrid, metrics[metric::kGrid].value_or(0))},
                 idle, idle / 0.15);
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
  // What limits the resident blocks is no limit where there are not as many.
  const bool limited = limiter && (*limiter == "registers" || *limiter == "shared_mem") &&
                       metrics[metric::kWaves].value_or(1) >= 1;
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
  else if (has_uneven_warps(metrics) && !findings.has("tail-effect"))
    findings.add("tail-effect", "[B] Some warps of a block take much longer than others",
                 {shown(metric::kOccupancy, *achieved), shown(metric::kTheoretical, *theoretical)},
                 (1 - *achieved / *theoretical) * metrics.free_share(),
                 *theoretical / 2 / std::max(*achieved, 0.1));
  else if (*achieved < *theoretical / 2 && metrics[metric::kWaves].value_or(1) >= 1)
    // Occupancy matters only indirectly: half of the gap is a generous estimate of the time.
    findings.add("low-achieved-occupancy", "[J] Achieved occupancy is far below theoretical",
                 {shown(metric::kOccupancy, *achieved), shown(metric::kTheoretical, *theoretical)},
                 (1 - *achieved / *theoretical) / 2 * metrics.free_share(),
                 *theoretical / 2 / std::max(*achieved, 0.1));
}

/// Whether the rest of a block, for which warps wait at barriers, waits for shared memory.
bool barriers_wait_for_shared(const Metrics& metrics) {
  const double rest = 1 - metrics.stall_share("barrier");
  const double shared =
      metrics.stall_share("short_scoreboard") + metrics.stall_share("mio_throttle");
  return metrics[metric::kL1].value_or(0) >= 40 && shared > 0.5 * rest;
}

/// Warps that wait in the queue of short operations wait for shared memory if that is what is in
/// it.
bool queue_is_shared(const Metrics& metrics) {
  const auto all = metrics[metric::kInstructions];
  const double special =
      metrics["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"].value_or(0);
  return all && metrics[kWavefronts].value_or(0) >= 0.05 * *all && special < 50;
}

/// The share of the waiting that is for shared memory, at barriers for warps that do so as well.
double shared_share(const Metrics& metrics) {
  const double waits = metrics.stall_share("short_scoreboard") +
                       (queue_is_shared(metrics) ? metrics.stall_share("mio_throttle") : 0);
  const double rest = 1 - metrics.stall_share("barrier");
  return barriers_wait_for_shared(metrics) && rest > 0 ? std::min(1.0, waits / rest) : waits;
}

void conflict_rule(const Metrics& metrics, Findings& findings) {
  const double share = conflict_share(metrics);
  if (share <= 0.2 || !uses_shared(metrics)) return;
  findings.add("bank-conflicts", "Shared-memory bank conflicts",
               {shown("bank conflicts, share of wavefronts", share),
                shown("shared wavefronts", metrics[kWavefronts].value_or(0))},
               std::min(share * (metrics.stall_share("short_scoreboard") +
                                 metrics.stall_share("mio_throttle")),
                        left_by_compute(metrics)),
               share / 0.2);
}

void shared_rule(const Metrics& metrics, Findings& findings) {
  const auto waiting = metrics.stall("short_scoreboard");
  const double l1 = metrics[metric::kL1].value_or(0);
  const bool atomics =
      findings.has("atomics-contention") && metrics[kSharedAtomics].value_or(0) > 0;
  // A unit that is rather busy is no limit where warps hardly wait for it.
  const bool awaited = l1 >= kNearLimit || shared_share(metrics) > 0.1;
  // Other users of L1 have rules of their own.
  const bool full =
      l1 >= kBusy && awaited && metrics[kWavefronts].value_or(0) > load_wavefronts(metrics) &&
      !atomics && !findings.has("l1-bound") && !findings.has("uncoalesced-loads") &&
      !findings.has("tma-bound") && !findings.has("fma-without-tensor") &&
      metrics[metric::kTensor].value_or(0) < kNearLimit && local_share(metrics) <= kMuchLocal;
  const double queued = queue_is_shared(metrics) ? metrics.stall("mio_throttle").value_or(0) : 0;
  const bool waits = waiting.value_or(0) + queued > 2 && !waits_short_elsewhere(metrics);
  if (waits || full) {
    std::vector<std::string> evidence{stall_text("short_scoreboard", waiting.value_or(0))};
    if (queued > 0) evidence.push_back(stall_text("mio_throttle", queued));
    if (full) evidence.push_back(shown(metric::kL1, l1));
    // Work that the unit need not do can save more than waits.
    findings.add("shared-memory-stalls",
                 full ? "[H] Shared memory is near its limit" : "[H] Warps wait for shared memory",
                 std::move(evidence),
                 std::max(shared_share(metrics) * metrics.free_share() * (atomics ? 0.5 : 1),
                          full ? 0.5 * l1 / 100 * (1 - conflict_share(metrics)) : 0),
                 std::max((waiting.value_or(0) + queued) / 2, full ? l1 / kBusy : 0));
  }
}

/// Global atomics of an average block.
double atomics_per_block(const Metrics& metrics) {
  const double atomics = metrics["smsp__sass_inst_executed_op_global_atom.sum"].value_or(0) +
                         metrics["smsp__sass_inst_executed_op_global_red.sum"].value_or(0);
  return atomics / std::max(1.0, metrics[metric::kGrid].value_or(0));
}

void barrier_rule(const Metrics& metrics, Findings& findings) {
  const auto barrier = metrics.stall("barrier");
  if (!barrier || *barrier <= 2) return;
  // Where the slowest warps wait for a unit that is busy, so do those at the barrier.
  const bool explained = findings.has("l1-bound") || barriers_wait_for_shared(metrics);
  if (meets_at_grid_barriers(metrics)) {
    // All warps load at once after such a barrier, and one of each block asks for its end.
    const double waits =
        metrics.stall_share("barrier") + metrics.stall_share("long_scoreboard") / 2;
    findings.add("barrier-stalls", "[I] Blocks wait for each other at barriers of the grid",
                 {stall_text("barrier", *barrier),
                  shown("global atomic instructions per block", atomics_per_block(metrics))},
                 waits * metrics.free_share(), *barrier / 2);
  } else {
    findings.add("barrier-stalls", "[I] Warps wait at block barriers",
                 {stall_text("barrier", *barrier)},
                 metrics.stall_share("barrier") * metrics.free_share() * (explained ? 0.5 : 1),
                 *barrier / 2);
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
  else if (const double share = returned_share(metrics); share > 0.1)
    findings.add("atomics-contention", "[G] Warps wait for what global atomics return",
                 {shown("global atomic instructions", atom.value_or(0)),
                  shown("their share of loads and atomics", share)},
                 metrics.stall_share("long_scoreboard") * share * metrics.free_share(),
                 share / 0.1);
  else if (loads_wait_for_reductions(metrics))
    findings.add("atomics-contention", "[G] Loads wait behind global atomics",
                 {shown("global atomic instructions", atomics),
                  stall_text("long_scoreboard", metrics.stall("long_scoreboard").value_or(0))},
                 metrics.stall_share("long_scoreboard") * metrics.free_share(),
                 atomics_per_load(metrics));
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
  barrier_rule(metrics, findings);
}

}  // namespace

double conflict_share(const Metrics& metrics) {
  const auto conflicts = metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"];
  const auto wavefronts = metrics[kWavefronts];
  return conflicts && wavefronts && *wavefronts > 0 ? std::min(1.0, *conflicts / *wavefronts) : 0;
}

bool waits_everywhere(const Metrics& metrics, int multiprocessors) {
  const auto grid = metrics[metric::kGrid];
  if (!grid || *grid < multiprocessors) return false;
  const auto stall = metrics.dominant_stall();
  return is_chain(metrics, multiprocessors) || meets_at_grid_barriers(metrics) ||
         (stall && stall->second > kOneReason);
}

bool has_uneven_warps(const Metrics& metrics) {
  // Blocks begin within a microsecond: where they last, what is missing has ended before them.
  constexpr double kLong = 20'000;  // ns
  const double waves = metrics[metric::kWaves].value_or(0);
  return waves >= 1 && metrics.duration_ns() / waves >= kLong &&
         metrics[metric::kOccupancy].value_or(100) <
             metrics[metric::kTheoretical].value_or(0) / 2 &&
         metrics.active_share().value_or(0) >= 0.85;
}

bool uses_shared(const Metrics& metrics) {
  return metrics["sm__sass_data_bytes_mem_shared.sum"].value_or(1) > 0;
}

bool meets_at_grid_barriers(const Metrics& metrics) {
  // A warp of each resident block counts up, again and again, while the others wait for it.
  return metrics[metric::kGrid].value_or(0) > 1 && metrics[metric::kWaves].value_or(2) <= 1 &&
         atomics_per_block(metrics) >= 2 && metrics.stall_share("barrier") > 0.2;
}

double left_by_compute(const Metrics& metrics) {
  const double compute = metrics[metric::kSm].value_or(0);
  const double memory = metrics[metric::kMemory].value_or(100);
  return compute >= kBusy && compute >= memory + kLead ? 1 - compute / 100 : 1;
}

double returned_share(const Metrics& metrics) {
  const double atomics = metrics["smsp__sass_inst_executed_op_global_atom.sum"].value_or(0);
  const auto loads = metrics[kLoadRequests];
  return loads && atomics > 0 ? atomics / (atomics + *loads) : 0;
}

double atomics_per_load(const Metrics& metrics) {
  const auto loads = metrics[kLoadRequests];
  const auto atomics = metrics["smsp__sass_inst_executed_op_global_red.sum"];
  return loads && atomics && *loads > 0 ? *atomics / *loads : 0;
}

bool loads_wait_for_reductions(const Metrics& metrics) {
  constexpr double kIdle = 20;  // % of DRAM's rate
  return atomics_per_load(metrics) >= 1 && metrics.stall_share("long_scoreboard") > 0.5 &&
         metrics[metric::kDram].value_or(100) < kIdle;
}

bool is_mostly_launch(const Metrics& metrics) {
  constexpr double kShort = 5000;  // ns
  constexpr double kIdle = 0.3;
  const auto active = metrics.active_share();
  return metrics.duration_ns() > 0 && metrics.duration_ns() < kShort && active && *active < kIdle;
}

void cuda_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings) {
  launch_rule(metrics, input, findings);
  grid_rule(metrics, input, findings);
  tail_rule(metrics, input, findings);
  occupancy_rule(metrics, findings);
  memory_patterns(input, metrics, findings);
  waiting_rules(metrics, findings);
  load_patterns(metrics, findings);  // after those that explain the same stall
  conflict_rule(metrics, findings);
  instruction_patterns(input, metrics, findings);
  shared_rule(metrics, findings);  // after those that explain why L1 is full
}

}  // namespace ratchet
