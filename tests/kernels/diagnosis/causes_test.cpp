// Causes that show in the same stalls or the same unit, and what tells them apart.

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <utility>

#include "kernels/diagnosis/diagnosis.h"

using namespace ratchet;

namespace {

constexpr const char* kComputes = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kMoves = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

std::string waiting(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

Diagnosis counted(std::map<std::string, double> metrics) {
  const std::vector<KernelCounters> kernels{{"k", std::move(metrics)}};
  DiagnosisInput input;
  input.kind = DeviceKind::cuda;
  input.device.multiprocessors = 132;
  input.timing.median = {100'000};
  input.kernels = kernels;
  return diagnose(input);
}

/// Ids without their prefix, in order, joined by blanks.
std::string found(const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& finding : diagnosis.findings)
    text += (text.empty() ? "" : " ") + finding.id.substr(8);
  return text;
}

std::string first(const Diagnosis& diagnosis) {
  const auto all = found(diagnosis);
  return all.substr(0, all.find(' '));
}

}  // namespace

TEST_CASE("waits are blamed on the unit that makes them", "[diagnosis]") {
  const char* const l1 = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed";
  const char* const all = "smsp__inst_executed.sum";
  const char* const shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
  const char* const atomics = "smsp__sass_inst_executed_op_shared_atom.sum";
  const char* const local = "smsp__sass_inst_executed_op_local.sum";
  // Those at a barrier wait for warps that wait for shared memory, unless that has little to do.
  const auto at_barrier = [&](double busy) {
    return counted({{l1, busy},
                    {kMoves, busy},
                    {shared, 1e6},
                    {all, 1e6},
                    {waiting("barrier"), 5},
                    {waiting("short_scoreboard"), 4}});
  };
  CHECK(first(at_barrier(50)) == "shared-memory-stalls");
  CHECK(first(at_barrier(95)) == "shared-memory-stalls");
  CHECK(first(at_barrier(10)) == "barrier-stalls");
  // Atomics explain the same stalls where they are a part of the instructions.
  const auto with_atomics = [&](double count) {
    return counted({{l1, 90},
                    {shared, 1e6},
                    {all, 1e6},
                    {atomics, count},
                    {waiting("short_scoreboard"), 18},
                    {waiting("barrier"), 4}});
  };
  CHECK(first(with_atomics(1e5)) == "atomics-contention");
  CHECK(first(with_atomics(10)) == "shared-memory-stalls");
  // So does local memory, by its part of the accesses.
  const auto with_local = [&](double count) {
    return counted({{local, count},
                    {all, 1e6},
                    {"launch__grid_size", 1024},
                    {"launch__waves_per_multiprocessor", 0.45},
                    {waiting("long_scoreboard"), 20},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e4}});
  };
  CHECK(first(with_local(1.4e5)) == "register-spills");
  CHECK(first(with_local(100)) == "small-grid");
}

TEST_CASE("small copies, small threads and lone chains have their own findings", "[diagnosis]") {
  const char* const copies = "sm__sass_inst_executed_op_tma_ld.sum";
  const char* const copied = "l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum";
  const char* const issue = "smsp__issue_active.avg.pct_of_peak_sustained_active";
  const char* const special = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active";
  // Warps that ask for the end of copies fill issue slots, but no pipe of arithmetic.
  const auto asks = [&](double bytes) {
    return counted({{kComputes, 75}, {kMoves, 20}, {issue, 75}, {copies, 1000}, {copied, bytes}});
  };
  CHECK(found(asks(128e3)) == "tma-bound");
  CHECK(asks(128e3).bound == Bound::latency);
  CHECK(found(asks(8e6)) == "arithmetic-bound");
  CHECK(asks(8e6).bound == Bound::compute);
  // A warp that has a scheduler for itself and waits for its own results.
  const auto chain = [&](double warps) {
    return counted({{kComputes, 9},
                    {kMoves, 9},
                    {issue, 15},
                    {special, 19},
                    {"smsp__inst_executed.sum", 1e7},
                    {"launch__grid_size", 66},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e3},
                    {"sm__warps_active.avg.per_cycle_active", warps},
                    {waiting("wait"), 1.7},
                    {waiting("short_scoreboard"), 2.1}});
  };
  CHECK(found(chain(4)) == "dependency-chain");
  CHECK(chain(4).bound == Bound::latency);
  CHECK(found(chain(16)) == "small-grid");
  // Three bytes a thread, although its loads are wider; then sixteen.
  const auto moves = [&](double threads) {
    return counted({{kComputes, 44},
                    {kMoves, 23},
                    {waiting("long_scoreboard"), 21},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 23},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 100},
                    {"launch__thread_count", threads},
                    {"launch__waves_per_multiprocessor", 248},
                    {"l1tex__m_xbar2l1tex_read_bytes.sum", 2e8},
                    {"l1tex__m_l1tex2xbar_write_bytes.sum", 1e8}});
  };
  CHECK(found(moves(1e8)) == "narrow-access latency-bound-loads");
  CHECK(found(moves(2e7)) == "latency-bound-loads");
}
