// The patterns of what a GPU kernel executes: pipes, lanes, and the caches of code and constants.

#include <algorithm>
#include <array>

#include "kernels/diagnosis/diagnosis_patterns.h"

namespace ratchet {
namespace {

// From this share on, results of the instructions before are what warps wait for.
constexpr double kChain = 0.5;

/// Share of the waiting for results of the instructions before.
double chain_share(const Metrics& metrics) {
  return metrics.stall_share("wait") +
         (waits_short_elsewhere(metrics) ? metrics.stall_share("short_scoreboard") : 0);
}

/// Share of the waiting for constants by index: in their queue, or for their answers.
double constants_share(const Metrics& metrics) {
  return metrics.stall_share("mio_throttle") + metrics.stall_share("short_scoreboard");
}

bool has_fp64(const DiagnosisInput& input) {
  return std::ranges::find(input.dtypes, DType::f64) != input.dtypes.end();
}

/// Share of the instructions that multiply floats and add them, fused or one after the other.
std::optional<double> product_share(const Metrics& metrics) {
  const auto fused = metrics["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"];
  const auto all = metrics[metric::kInstructions];
  constexpr double kLanes = 32;
  if (!fused || !all || *all <= 0) return std::nullopt;
  const double pairs =
      std::min(metrics["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"].value_or(0),
               metrics["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"].value_or(0));
  return std::min(1.0, (*fused + 2 * pairs) / (kLanes * *all));
}

/// Share of what loads ask for that has been loaded before: products use an operand many times,
/// elementwise work once. All of it if that was not counted.
double reread_share(const Metrics& metrics) {
  constexpr double kSector = 32;  // bytes
  const auto sectors = metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
  const auto read = metrics["l1tex__m_xbar2l1tex_read_bytes.sum"];
  const double asked =
      kSector * sectors.value_or(0) + metrics["sm__sass_data_bytes_mem_shared.sum"].value_or(0);
  return sectors && read && asked > 0 ? std::clamp(1 - *read / asked, 0.0, 1.0) : 1;
}

/// The FMA pipe also multiplies integers, which tensor cores do not do for hashes and indices.
bool multiplies_floats(const Metrics& metrics, const DiagnosisInput& input) {
  if (const auto share = product_share(metrics)) return *share > 0.2;
  constexpr std::array kFloats{DType::f32, DType::f16, DType::bf16, DType::f8_e4m3, DType::f8_e5m2};
  return input.dtypes.empty() || std::ranges::any_of(input.dtypes, [&](DType type) {
           return std::ranges::find(kFloats, type) != kFloats.end();
         });
}

/// A matrix product gets its operands from memory; a chain of operations on registers is none.
bool loads_operands(const Metrics& metrics) {
  const auto shared = metrics[kWavefronts];
  const auto loads = metrics[kLoadRequests];
  const auto all = metrics[metric::kInstructions];
  return !shared || !loads || !all || *shared + *loads > 0.02 * *all;
}

/// Whether a tensor has a type that tensor cores multiply at a multiple of the rate of FMA.
bool has_half(const DiagnosisInput& input) {
  return std::ranges::any_of(input.dtypes, [](DType type) {
    return type == DType::f16 || type == DType::bf16 || type == DType::f8_e4m3 ||
           type == DType::f8_e5m2;
  });
}

void arithmetic_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto busy = metrics[metric::kSm];
  const auto issue = metrics[metric::kIssue];
  const double memory = metrics[metric::kMemory].value_or(100);
  if (!busy || !issue || *busy < kBusy || *issue < 50 || memory > *busy - 10) return;
  if (metrics[metric::kTensor].value_or(0) > 50 || findings.has("special-function-bound") ||
      findings.has("accidental-fp64") || findings.has("warp-divergence") ||
      findings.has("tma-bound"))
    return;
  // Warps that wait for each other or for shared memory are not short of issue slots.
  // Where few wait at all, as issue slots are full, shares say nothing.
  const bool many =
      metrics.stall("barrier").value_or(0) + metrics.stall("short_scoreboard").value_or(0) > 2;
  const double elsewhere =
      many ? metrics.stall_share("barrier") + metrics.stall_share("short_scoreboard") : 0;
  // Products that tensor cores can do need no better arithmetic.
  const bool products = has_half(input) && findings.has("fma-without-tensor");
  const double left = products ? 1 - product_share(metrics).value_or(0) * reread_share(metrics) : 1;
  std::vector<std::string> evidence{shown(metric::kSm, *busy), shown(metric::kIssue, *issue),
                                    shown(metric::kMemory, memory)};
  constexpr double kMuch = 0.1;  // of the waiting
  if (metrics.stall_share("math_pipe_throttle") > kMuch)
    evidence.push_back(stall_text("math_pipe_throttle", *metrics.stall("math_pipe_throttle")));
  findings.add("arithmetic-bound", "Arithmetic fills the issue slots", std::move(evidence),
               *busy / 100 / 2 * (1 - elsewhere) * left, *busy / kBusy);
}

void tensor_rule(const Metrics& metrics, Findings& findings) {
  const auto tensor = metrics[metric::kTensor];
  const double l1 = metrics[metric::kL1].value_or(0);
  // A busy way of the operands is not free, but used by too few products for each operand.
  const bool crowded = l1 >= kBusy;
  // Compilers also move constants with packed half-precision instructions, which run in this pipe.
  constexpr double kMoves = 5;  // % of its cycles that such moves were seen to take at most
  const bool moves = metrics["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"].value_or(0) > 0;
  const double least = !crowded ? 10 : moves ? kMoves : 1;
  if (!tensor || *tensor <= least || *tensor >= kBusy) return;
  std::vector<std::string> evidence{shown("tensor pipe, %", *tensor)};
  double gain = metrics.free_share();
  if (crowded) {
    evidence.push_back(shown(metric::kL1, l1));
    const bool explained = findings.has("bank-conflicts") || findings.has("atomics-contention");
    double waits = 0;
    for (const auto* reason :
         {"long_scoreboard", "lg_throttle", "short_scoreboard", "mio_throttle"})
      waits += metrics.stall_share(reason);
    gain = std::max(gain, waits * (explained ? 0.5 : 1));
  }
  // Products that are waited for one after the other leave the pipe idle in between.
  const auto stall = metrics.dominant_stall();
  const bool serial = stall && stall->first == "gmma";
  if (serial) evidence.push_back(stall_text("gmma", metrics.stall("gmma").value_or(0)));
  findings.add("tensor-pipe-underfed",
               serial ? "Warps wait for matrix products that they have just begun"
                      : "The tensor pipe waits for operands",
               std::move(evidence), (1 - *tensor / 100) * gain, kBusy / *tensor);
}

void pipe_rules(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  const auto fma = metrics["smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"];
  const auto tensor = metrics[metric::kTensor];
  const double much = has_half(input) ? 25 : 50;
  // Operands of scalar products that are read one by one fill the queue before the FMA pipe.
  const bool queued = has_half(input) && metrics.stall_share("mio_throttle") > 0.3;
  if (fma && tensor && *fma > (queued ? 10 : much) && *tensor < 1 &&
      multiplies_floats(metrics, input) && loads_operands(metrics))
    findings.add(
        "fma-without-tensor", "[F] FMA pipe busy, tensor cores idle",
        {shown("FMA pipe, %", *fma), shown("tensor pipe, %", *tensor)},
        // Tensor cores can only help if the work is a matrix product, and cost digits of fp32.
        (queued ? 1 - metrics.free_share() : *fma / 100) / (has_half(input) ? 2 : 4) *
            metrics.active_share().value_or(1) * reread_share(metrics),
        queued ? 1.2 : *fma / much);
  tensor_rule(metrics, findings);
  const auto fp64 = metrics["sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"];
  const auto special = metrics["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"];
  const bool accidental = fp64 && *fp64 > 1 && !has_fp64(input);
  constexpr double kConversions = 8;
  if (accidental)
    findings.add("accidental-fp64", "[L] Double precision in a kernel without fp64 tensors",
                 {shown("fp64 pipe, %", *fp64)},
                 // Conversions to double and back run on the unit for special functions.
                 // An operation of double precision has two at most, at a quarter of its rate.
                 std::max(*fp64, std::min(special.value_or(0), kConversions * *fp64)) / 100, *fp64);
  const bool converts = accidental && special.value_or(0) <= 2 * kConversions * *fp64;
  if (special && *special >= kBusy && !converts)
    findings.add("special-function-bound", "The special-function unit is busy",
                 {shown("XU pipe, %", *special)}, *special / 100 / 2, *special / kBusy);
  const auto threads = metrics["smsp__thread_inst_executed_per_inst_executed.ratio"];
  // A single lane asks for the end of bulk copies.
  if (threads && *threads > 0 && *threads < 24 && !findings.has("tma-bound"))
    findings.add("warp-divergence", "[N] Few active threads per warp instruction",
                 {shown("threads per instruction, of 32", *threads)},
                 // Idle lanes cost what the instructions cost, and their waits where no memory is
                 // busy: the paths of a warp wait one after the other.
                 (1 - *threads / 32) *
                     std::max(metrics[metric::kIssue].value_or(100),
                              100 - metrics[metric::kMemory].value_or(100)) /
                     100,
                 24 / *threads);
  arithmetic_rule(metrics, input, findings);
}

void fetch_rules(const Metrics& metrics, Findings& findings) {
  const auto fetch = metrics.stall("no_instruction");
  // Kernels start with empty caches of code and constants, which takes a microsecond.
  constexpr double kFirst = 1000;
  const double time = metrics.duration_ns();
  const double warm = time > 0 ? std::max(0.0, 1 - kFirst / time) : 1;
  if (fetch && *fetch > 0.5 && metrics.stall_share("no_instruction") > 0.1)
    findings.add("instruction-cache-miss", "Warps wait for instructions",
                 {stall_text("no_instruction", *fetch)},
                 metrics.stall_share("no_instruction") * metrics.free_share() * warm, *fetch / 0.5);
  if (reads_constants_in_turns(metrics))
    findings.add("constant-cache-miss", "Lanes read different places of constant memory, in turns",
                 {stall_text("mio_throttle", metrics.stall("mio_throttle").value_or(0)),
                  stall_text("short_scoreboard", metrics.stall("short_scoreboard").value_or(0)),
                  shown(metric::kIssue, metrics[metric::kIssue].value_or(0))},
                 constants_share(metrics), 2);
  const auto constants = metrics.stall("imc_miss");
  if (constants && *constants > 1 && !findings.has("constant-cache-miss") &&
      metrics.stall_share("imc_miss") > 0.1)
    findings.add("constant-cache-miss", "Warps wait for constants",
                 {stall_text("imc_miss", *constants)},
                 metrics.stall_share("imc_miss") * metrics.free_share() * warm, *constants);
}

void chain_rule(const Metrics& metrics, const DiagnosisInput& input, Findings& findings) {
  if (!is_chain(metrics, input.device.multiprocessors) ||
      metrics[metric::kIssue].value_or(100) >= kBusy)
    return;
  const double share = chain_share(metrics);
  findings.add("dependency-chain", "Each instruction waits for the one before it",
               {stall_text("wait", metrics.stall("wait").value_or(0)),
                stall_text("short_scoreboard", metrics.stall("short_scoreboard").value_or(0)),
                shown(metric::kIssue, metrics[metric::kIssue].value_or(0))},
               share * metrics.free_share(), share / kChain);
}

}  // namespace

bool waits_short_elsewhere(const Metrics& metrics) {
  if (!uses_shared(metrics)) return true;
  const auto shared = metrics[kWavefronts];
  const auto all = metrics[metric::kInstructions];
  const auto special = metrics["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"];
  return shared && all && *shared < 0.005 * *all && special.value_or(0) > 1;
}

bool is_lone_chain(const Metrics& metrics) {
  constexpr double kSchedulers = 4.2;  // four in a multiprocessor
  const auto warps = metrics["sm__warps_active.avg.per_cycle_active"];
  return warps && *warps > 0 && *warps <= kSchedulers && chain_share(metrics) > kChain;
}

bool is_chain(const Metrics& metrics, int multiprocessors) {
  const auto grid = metrics[metric::kGrid];
  return grid && (*grid >= multiprocessors || is_lone_chain(metrics)) &&
         chain_share(metrics) > kChain;
}

bool reads_constants_in_turns(const Metrics& metrics) {
  const auto all = metrics[metric::kInstructions];
  const auto shared = metrics[kWavefronts];
  const auto issue = metrics[metric::kIssue];
  const auto special = metrics["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"];
  if (!all || !shared || !issue || !special || *shared >= 0.05 * *all) return false;
  double explained = std::max(*issue, *special);
  for (const auto* pipe :
       {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
        "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", metric::kTensor})
    explained = std::max(explained, metrics[pipe].value_or(0));
  return constants_share(metrics) > 0.5 &&
         metrics[metric::kSm].value_or(0) - explained >= kNearLimit / 2;
}

void instruction_patterns(const DiagnosisInput& input, const Metrics& metrics, Findings& findings) {
  chain_rule(metrics, input, findings);
  pipe_rules(metrics, input, findings);
  fetch_rules(metrics, findings);
}

}  // namespace ratchet
