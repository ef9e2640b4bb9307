#include "kernels/diagnosis/diagnosis.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "kernels/counters/metrics.h"
#include "kernels/diagnosis/diagnosis_patterns.h"
#include "tests/kernels/diagnosis/counted_kernel.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;
using Catch::Approx;

namespace {

Diagnosis on_host(std::optional<double> memory, std::optional<double> compute,
                  std::map<std::string, double> metrics = {}) {
  const std::vector<KernelCounters> kernels{{"solve", std::move(metrics)}};
  DiagnosisInput input;
  input.roofline.bandwidth_fraction = memory;
  input.roofline.compute_fraction = compute;
  input.kernels = kernels;
  return diagnose(input);
}

}  // namespace

TEST_CASE("the bound class follows the two utilizations", "[diagnosis]") {
  const auto bound = [](double compute, double memory) {
    return counted({{kComputes, compute}, {kMoves, memory}}).bound;
  };

  CHECK(bound(85, 50) == Bound::compute);
  CHECK(bound(86, 84) == Bound::mixed);  // near both limits
  CHECK(bound(50, 93) == Bound::memory);
  CHECK(bound(75, 64) == Bound::compute);  // 11 points apart
  CHECK(bound(66, 64) == Bound::mixed);
  CHECK(bound(40, 30) == Bound::latency);
}

TEST_CASE("an idle device is explained by its launch before its latency", "[diagnosis]") {
  const std::map<std::string, double> idle{{kComputes, 20}, {kMoves, 20}};
  auto small = idle;
  small["launch__waves_per_multiprocessor"] = 0.3;
  auto starved = idle;
  starved["launch__waves_per_multiprocessor"] = 8;
  starved["sm__warps_active.avg.pct_of_peak_sustained_active"] = 20;
  starved["sm__maximum_warps_per_active_cycle_pct"] = 50;

  CHECK(counted(small).bound == Bound::occupancy);
  CHECK(counted(starved).bound == Bound::occupancy);
  CHECK(counted(idle).bound == Bound::latency);
  CHECK(counted(idle, 9'999).bound == Bound::launch);
}

TEST_CASE("a missing metric is no evidence", "[diagnosis]") {
  const auto diagnosis = counted({});
  CHECK(diagnosis.bound == Bound::unknown);
  CHECK(diagnosis.findings.empty());
  CHECK(counted({{waiting("long_scoreboard"), 9}}).findings.empty());  // DRAM unknown
}

TEST_CASE("each pattern is found on its numbers and not below its threshold", "[diagnosis]") {
  const char* dram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
  const char* fma = "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active";
  const char* tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
  const char* loads = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct";
  const char* stores = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct";
  const char* atomics = "smsp__sass_inst_executed_op_global_red.sum";
  const char* threads = "smsp__thread_inst_executed_per_inst_executed.ratio";
  const char* fp64 = "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active";

  CHECK(found(counted({{"launch__waves_per_multiprocessor", 0.4}})) == "small-grid");
  CHECK(found(counted({{"launch__grid_size", 100}})) == "small-grid");  // of 132 SMs
  CHECK(found(counted({{"launch__waves_per_multiprocessor", 1.1}})) == "tail-effect");
  CHECK(found(counted({{"launch__waves_per_multiprocessor", 7.1}})).empty());  // 11 % idle
  CHECK(found(counted({{loads, 12.5}})) == "uncoalesced-loads");
  CHECK(found(counted({{loads, 61}})).empty());
  CHECK(found(counted({{stores, 12.5}})) == "partial-sector-stores");
  CHECK(found(counted({{stores, 50}})) == "partial-sector-stores");  // every second word
  CHECK(found(counted({{stores, 61}})).empty());
  CHECK(found(counted({{waiting("long_scoreboard"), 5}, {dram, 5}})) == "latency-bound-loads");
  CHECK(found(counted({{waiting("long_scoreboard"), 5}, {dram, 50}})) == "dram-bound-latency");
  CHECK(found(counted({{dram, 92}})) == "dram-bound-latency");
  CHECK(found(counted({{fma, 70}, {tensor, 0.2}})) == "fma-without-tensor");
  CHECK(found(counted({{fma, 70}, {tensor, 20}})) == "tensor-pipe-underfed");
  CHECK(found(counted({{atomics, 1000}, {waiting("lg_throttle"), 3}})) == "atomics-contention");
  CHECK(found(counted({{atomics, 0}, {waiting("lg_throttle"), 3}})).empty());
  CHECK(found(counted({{waiting("short_scoreboard"), 2.5}})) == "shared-memory-stalls");
  CHECK(found(counted({{waiting("barrier"), 2.5}})) == "barrier-stalls");
  CHECK(found(counted({{threads, 12}})) == "warp-divergence");
  CHECK(found(counted({{fp64, 30}})) == "accidental-fp64");
  CHECK(found(counted({{fp64, 3}})).empty());  // saves less than a twentieth
  CHECK(found(counted({{"smsp__sass_inst_executed_op_local.sum", 10}})) == "register-spills");
  CHECK(found(counted({}, 6'000)) == "launch-bound");
  CHECK(found(counted({{waiting("membar"), 3}})) == "fence-stalls");
}

TEST_CASE("what limits a kernel within its threads is told from a grid that is too small",
          "[diagnosis]") {
  const char* issue = "smsp__issue_active.avg.pct_of_peak_sustained_active";
  // A warp on each of 132 SMs, as counted for a chain of FMAs.
  const auto chain = counted({{kComputes, 6},
                              {kMoves, 0.1},
                              {issue, 26},
                              {"launch__grid_size", 132},
                              {"launch__waves_per_multiprocessor", 0.03},
                              {waiting("wait"), 2.7},
                              {waiting("long_scoreboard"), 0.1}});
  CHECK(found(chain) == "dependency-chain");
  CHECK(chain.bound == Bound::latency);
  // The same stalls where SMs have no block.
  const auto few = counted({{kComputes, 6},
                            {kMoves, 0.1},
                            {issue, 26},
                            {"launch__grid_size", 8},
                            {waiting("wait"), 2.7}});
  CHECK(found(few) == "small-grid");
  CHECK(few.bound == Bound::occupancy);
}

TEST_CASE("a full SM is told from one that waits for constants", "[diagnosis]") {
  const char* issue = "smsp__issue_active.avg.pct_of_peak_sustained_active";
  const auto with_issue = [&](double share) {
    return counted({{kComputes, 99},
                    {kMoves, 1},
                    {issue, share},
                    {waiting("mio_throttle"), 700},
                    {waiting("wait"), 1},
                    {"smsp__inst_executed.sum", 2e7},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e5},
                    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 0}});
  };
  CHECK(found(with_issue(2)) == "constant-cache-miss");
  CHECK(with_issue(2).bound == Bound::latency);
  CHECK(found(with_issue(70)) == "arithmetic-bound");
  CHECK(with_issue(70).bound == Bound::compute);
}

TEST_CASE("findings are ordered by headroom and cite their numbers", "[diagnosis]") {
  const auto diagnosis =
      counted({{waiting("barrier"), 3}, {waiting("short_scoreboard"), 6}, {waiting("wait"), 1}});

  REQUIRE(found(diagnosis) == "shared-memory-stalls barrier-stalls");
  CHECK(diagnosis.findings[0].headroom == Approx(0.6));  // 6 of 3 + 6 + 1, nothing else busy
  CHECK(diagnosis.findings[1].headroom == Approx(0.3));
  CHECK(diagnosis.findings[0].evidence == "stall short_scoreboard (warps per issue) = 6");
  CHECK_FALSE(diagnosis.findings[0].query.empty());
}

TEST_CASE("double precision is only a finding where no tensor is double", "[diagnosis]") {
  const std::vector<KernelCounters> kernels{
      {"k", {{"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", 30}}}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.kernels = kernels;
  input.dtypes = {DType::f32};
  CHECK(diagnose(input).findings.size() == 1);
  input.dtypes.push_back(DType::f64);
  CHECK(diagnose(input).findings.empty());
}

TEST_CASE("kernels of a call weigh as much as their time, and findings name theirs",
          "[diagnosis]") {
  const std::vector<KernelCounters> kernels{
      {"short", {{"gpu__time_duration.sum", 30'000}, {waiting("barrier"), 9}}},
      {"long", {{"gpu__time_duration.sum", 70'000}, {waiting("short_scoreboard"), 9}}}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.kernels = kernels;
  input.timing.median = {105'000};
  input.launches = 2;
  const auto diagnosis = diagnose(input);

  REQUIRE(found(diagnosis) == "shared-memory-stalls barrier-stalls");
  CHECK(diagnosis.findings[0].evidence.find("kernel long") != std::string::npos);
  // Each waits all of its time: its headroom is its share of the call.
  CHECK(diagnosis.findings[0].headroom == Approx(0.7));
  CHECK(diagnosis.findings[1].headroom == Approx(0.3));
}

TEST_CASE("what kernels of a call have in common counts together", "[diagnosis]") {
  std::vector<KernelCounters> kernels;
  for (const auto* name : {"a", "b", "c"})
    kernels.push_back({name, {{"gpu__time_duration.sum", 30'000}, {waiting("barrier"), 9}}});
  kernels.push_back({"d", {{"gpu__time_duration.sum", 40'000}, {waiting("short_scoreboard"), 9}}});
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.kernels = kernels;
  input.timing.median = {130'000};
  input.launches = 4;
  const auto diagnosis = diagnose(input);
  REQUIRE(found(diagnosis) == "barrier-stalls shared-memory-stalls");
  CHECK(diagnosis.findings[0].headroom == Approx(9.0 / 13));
}

TEST_CASE("launches leave a part of a call to its kernels", "[diagnosis]") {
  const auto with_gaps = [](double median) {
    const KernelCounters step{"step",
                              {{"gpu__time_duration.sum", 20'000},
                               {kComputes, 20},
                               {kMoves, 20},
                               {waiting("barrier"), 3},
                               {waiting("short_scoreboard"), 7}}};
    const std::vector<KernelCounters> kernels(5, step);
    DiagnosisInput input;
    input.kind = DeviceKind::cuda;
    input.kernels = kernels;
    input.launches = 5;
    input.timing.median = {median};
    return diagnose(input);
  };
  CHECK(found(with_gaps(101'000)) == "shared-memory-stalls barrier-stalls");
  const auto sparse = with_gaps(180'000);
  CHECK(found(sparse) == "launch-bound shared-memory-stalls barrier-stalls");
  CHECK(sparse.bound == Bound::launch);
  CHECK(sparse.findings[1].headroom == Approx(0.7 * 0.8 * 100 / 180));
  CHECK(with_gaps(130'000).bound == Bound::latency);
}

TEST_CASE("a call that is mostly gaps is launch-bound, whatever its length", "[diagnosis]") {
  std::vector<KernelCounters> kernels;
  for (int i = 0; i < 50; ++i)
    kernels.push_back({"step", {{"gpu__time_duration.sum", 2'000}, {kComputes, 70}, {kMoves, 30}}});
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.kernels = kernels;
  input.launches = 50;
  input.timing.median = {300'000};  // 100 µs of kernels
  const auto sparse = diagnose(input);
  CHECK(sparse.bound == Bound::launch);
  REQUIRE_FALSE(sparse.findings.empty());
  CHECK(sparse.findings.front().id == "pattern-launch-bound");
  CHECK(sparse.findings.front().headroom == Approx(2.0 / 3));

  input.timing.median = {104'000};
  CHECK(diagnose(input).bound == Bound::compute);
  // Of 50 launches only some were counted: nothing is known about gaps.
  input.timing.median = {300'000};
  input.kernels = std::span(kernels).first(10);
  CHECK(diagnose(input).bound == Bound::compute);
}

TEST_CASE("kernels of different classes make a mixed call", "[diagnosis]") {
  const std::vector<KernelCounters> kernels{
      {"a", {{"gpu__time_duration.sum", 50'000}, {kComputes, 90}, {kMoves, 20}}},
      {"b", {{"gpu__time_duration.sum", 50'000}, {kComputes, 20}, {kMoves, 90}}}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.kernels = kernels;
  input.launches = 2;
  input.timing.median = {101'000};
  CHECK(diagnose(input).bound == Bound::mixed);
}

TEST_CASE("a short call that keeps a unit busy is not called launch-bound", "[diagnosis]") {
  CHECK(counted({{kComputes, 20}, {kMoves, 85}}, 8'000).bound == Bound::memory);
  CHECK(counted({{kComputes, 20}, {kMoves, 30}}, 8'000).bound == Bound::launch);
}

TEST_CASE("tensor cores are not advised for integers", "[diagnosis]") {
  const char* const fma = "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active";
  const char* const tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
  const std::vector<KernelCounters> kernels{{"hash", {{fma, 90}, {tensor, 0}}}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.device.multiprocessors = 132;
  input.timing.median = {100'000};
  input.kernels = kernels;
  input.dtypes = {DType::u32};
  CHECK(found(diagnose(input)).empty());
  input.dtypes = {DType::f32};
  CHECK(found(diagnose(input)) == "fma-without-tensor");
  // Floating tensors, but the multiplications that were counted are of integers.
  const std::vector<KernelCounters> counted{
      {"hash",
       {{fma, 90},
        {tensor, 0},
        {"smsp__inst_executed.sum", 1e6},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 1e4}}}};
  input.kernels = counted;
  CHECK(found(diagnose(input)).empty());
}

TEST_CASE("host kernels are judged by a near roof", "[diagnosis]") {
  CHECK(on_host(0.9, 0.1).bound == Bound::memory);
  // c = a + b at full bandwidth: three of the four bytes moved are declared.
  CHECK(on_host(0.5, 0.02).bound == Bound::memory);
  CHECK(on_host(0.1, 0.7).bound == Bound::compute);
  CHECK(found(on_host(0.9, 0.1)) == "host-memory-bandwidth");
  // Far below both, and the call was not sampled: nothing says why.
  CHECK(on_host(0.2, 0.1).bound == Bound::unknown);
  CHECK(found(on_host(0.2, 0.01)).empty());
  CHECK(on_host({}, {}).bound == Bound::unknown);
}

namespace {

/// Metrics of a sampled call of 10 ms on one of two cores, all in the kernel's loops.
std::map<std::string, double> on_one_core(std::map<std::string, double> more) {
  std::map<std::string, double> metrics{{"duration_time", 10e6},
                                        {"first_thread_time", 10e6},
                                        {"user_time", 10e6},
                                        {"system_time", 0},
                                        {"run_delay", 0},
                                        {"samples", 1000},
                                        {"samples_in_kernel.pct", 100},
                                        {"hot_loops.pct", 100},
                                        {"tensor_bytes", 64e6}};
  for (const auto& [name, value] : more) metrics[name] = value;
  return metrics;
}

std::string on_two_cores(std::map<std::string, double> metrics) {
  const std::vector<KernelCounters> kernels{{"solve", std::move(metrics)}};
  DiagnosisInput input;
  input.device.multiprocessors = 2;
  input.kernels = kernels;
  return found(diagnose(input));
}

}  // namespace

TEST_CASE("scalar work and idle cores are told apart on the host", "[diagnosis]") {
  CHECK(on_two_cores(on_one_core({{"packed_arithmetic.pct", 0}})) ==
        "host-scalar-loop host-single-thread");
  CHECK(on_two_cores(on_one_core({{"packed_arithmetic.pct", 100}})) == "host-single-thread");
  CHECK(on_two_cores(on_one_core({{"packed_arithmetic.pct", 0}, {"user_time", 20e6}})) ==
        "host-scalar-loop");
  CHECK(on_two_cores(on_one_core({{"packed_arithmetic.pct", 100}, {"user_time", 20e6}})).empty());
}

TEST_CASE("neighbors that hold the cores are named, and threads are not judged then",
          "[diagnosis]") {
  // Both threads wait 4 of 10 ms; the first one's wait at the barrier says nothing.
  CHECK(on_two_cores(on_one_core({{"user_time", 12e6},
                                  {"run_delay", 4e6},
                                  {"samples_in_kernel.pct", 50},
                                  {"samples_in_threads.pct", 50},
                                  {"hot_loops.pct", 50}})) == "host-neighbors");
  CHECK(on_two_cores(on_one_core({{"user_time", 16e6},
                                  {"samples_in_kernel.pct", 50},
                                  {"samples_in_threads.pct", 50},
                                  {"hot_loops.pct", 50}})) == "host-imbalance");
}

TEST_CASE("counted misses are a finding where the processor counts them", "[diagnosis]") {
  const std::map<std::string, double> waiting{
      {"instructions", 1e6}, {"cycles", 4e6}, {"LLC-load-misses", 2e4}};  // ipc 0.25, 20 per 1,000
  CHECK(found(on_host(0.1, 0.01, waiting)) == "host-cache-miss");
}

TEST_CASE("every pattern that the rules name has a page in the wiki", "[diagnosis]") {
  const std::map<std::string, double> metrics{
      {"launch__waves_per_multiprocessor", 1.2},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", 10},
      {"sm__maximum_warps_per_active_cycle_pct", 100},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 20},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 20},
      {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 50},
      {waiting("long_scoreboard"), 5},
      {waiting("short_scoreboard"), 5},
      {waiting("barrier"), 5},
      {waiting("lg_throttle"), 5},
      {"smsp__sass_inst_executed_op_global_atom.sum", 5},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 5},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 10},
      {"smsp__sass_inst_executed_op_local.sum", 5},
      {"smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", 90},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0},
      {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", 9},
      {"smsp__thread_inst_executed_per_inst_executed.ratio", 5}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.timing.median = {5'000};
  Findings all;
  cuda_patterns(input, Metrics(metrics), all);
  const auto everything = std::move(all).sorted();
  CHECK(everything.size() >= 13);
  const std::filesystem::path pages = test::source_dir() / "kbs/content/docs/patterns";
  for (const auto& finding : everything)
    CHECK(std::filesystem::exists(pages / (finding.id.substr(8) + ".md")));
  for (const auto* name : {"arithmetic-bound",
                           "constant-cache-miss",
                           "dependency-chain",
                           "fence-stalls",
                           "l1-bound",
                           "narrow-access",
                           "host-memory-bandwidth",
                           "host-scalar-loop",
                           "host-cache-miss",
                           "host-single-thread",
                           "host-neighbors",
                           "host-interpreter",
                           "host-page-faults",
                           "host-thread-overhead",
                           "host-imbalance",
                           "host-strided-access",
                           "host-dependency-chain",
                           "host-divisions",
                           "host-math-calls",
                           "host-atomics",
                           "host-branches"}) {
    INFO(name);
    CHECK(std::filesystem::exists(pages / (std::string(name) + ".md")));
  }
}

TEST_CASE("the metric sets hold the package's metrics and no name twice", "[diagnosis]") {
  const auto full = metric_names(MetricSet::full, DeviceKind::cuda);
  std::size_t stalls = 0;
  for (const auto& name : full) {
    CHECK(std::ranges::count(full, name) == 1);
    stalls += name.find("_stalled_") != std::string::npos ? 1 : 0;
  }

  CHECK(full.size() > 41);
  CHECK(stalls == 19);
  CHECK(std::ranges::find(full, "sm__sass_data_bytes_mem_shared.sum.per_second") != full.end());
  CHECK(std::ranges::find(full, "gpu__time_duration.sum") != full.end());
  // Roll-ups multiply the passes: lean has only DRAM's, which costs one.
  for (const auto& name : metric_names(MetricSet::lean, DeviceKind::cuda))
    CHECK((name.find("throughput") == std::string::npos || name.starts_with("dram__")));
  CHECK(metric_names(MetricSet::lean, DeviceKind::host)[0] == "cycles");
}
