// Causes that show in the same stalls or the same unit, and what tells them apart.

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/diagnosis/counted_kernel.h"

using namespace ratchet;
using namespace ratchet::test;

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

TEST_CASE("loads that share a queue with atomics wait for those", "[diagnosis]") {
  const auto votes = [](double atomics) {
    return counted({{kComputes, 3},
                    {kMoves, 18},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 0.4},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 50},
                    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 524'288},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 65'536},
                    {"smsp__sass_inst_executed_op_global_red.sum", atomics},
                    {waiting("long_scoreboard"), 318}});
  };
  CHECK(found(votes(524'288)) == "atomics-contention");
  CHECK(found(votes(1'000)) == "latency-bound-loads uncoalesced-loads");
}

TEST_CASE("sectors count by what memory moves, and nothing small is listed", "[diagnosis]") {
  const auto strided = [](double memory, double waits) {
    return counted({{kComputes, 10},
                    {kMoves, memory},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 12.5},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 12.5},
                    {waiting("barrier"), 10 - waits},
                    {waiting("long_scoreboard"), waits}});
  };
  CHECK(found(strided(80, 9.9)) == "uncoalesced-loads partial-sector-stores");
  CHECK(found(strided(2, 0.1)) == "barrier-stalls");
  // Traffic that is first and leads makes a memory-bound kernel before it fills memory.
  CHECK(strided(50, 9.9).bound == Bound::memory);
  CHECK(strided(30, 9.9).bound == Bound::latency);
}

TEST_CASE("partial sectors of stores cost what L2 is busy, not what shared memory is",
          "[diagnosis]") {
  const auto stores = [](double l2) {
    return counted({{kComputes, 10},
                    {kMoves, 90},
                    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", l2},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 12.5},
                    {waiting("barrier"), 10}});
  };
  CHECK(found(stores(80)) == "partial-sector-stores barrier-stalls");
  CHECK(found(stores(7)) == "barrier-stalls");
}

TEST_CASE("loads wait for DRAM only where it is loaded", "[diagnosis]") {
  const auto loaded = [](double dram) {
    return counted({{kComputes, 10},
                    {kMoves, dram},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", dram},
                    {waiting("long_scoreboard"), 20}});
  };
  CHECK(found(loaded(40)) == "latency-bound-loads");
  CHECK(loaded(40).bound == Bound::latency);
  CHECK(found(loaded(55)) == "dram-bound-latency");
  CHECK(loaded(55).bound == Bound::memory);
  CHECK(loaded(90).findings.at(0).headroom == Catch::Approx(0.45));  // fewer bytes, not fewer waits
}

TEST_CASE("warps that need the results of atomics wait for them", "[diagnosis]") {
  const auto returns = [](double atomics) {
    return counted({{kComputes, 5},
                    {kMoves, 5},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 2},
                    {"smsp__sass_inst_executed_op_global_atom.sum", atomics},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e4},
                    {waiting("lg_throttle"), 0.1},
                    {waiting("long_scoreboard"), 30}});
  };
  CHECK(first(returns(4e4)) == "atomics-contention");
  CHECK(found(returns(500)) == "latency-bound-loads");
}

TEST_CASE("idle lanes cost the waits of their paths where no memory is busy", "[diagnosis]") {
  const auto lanes = [](double memory) {
    return counted({{kComputes, 10},
                    {kMoves, memory},
                    {"smsp__issue_active.avg.pct_of_peak_sustained_active", 10},
                    {"smsp__thread_inst_executed_per_inst_executed.ratio", 4}});
  };
  CHECK(lanes(5).findings.at(0).headroom == Catch::Approx(0.875 * 0.95));
  CHECK(lanes(95).findings.at(0).headroom == Catch::Approx(0.875 * 0.1));
}

TEST_CASE("units are blamed for what they do themselves", "[diagnosis]") {
  const auto shuffles = [](double bytes) {
    return counted(
        {{"sm__sass_data_bytes_mem_shared.sum", bytes}, {waiting("short_scoreboard"), 5}});
  };
  CHECK(found(shuffles(1e6)) == "shared-memory-stalls");
  CHECK(found(shuffles(0)).empty());
  // Matrix instructions read shared memory at its full rate.
  const auto tensor = [](double busy) {
    return counted({{"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 99},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e6},
                    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", busy}});
  };
  CHECK(found(tensor(98)).empty());
  CHECK(first(tensor(0)) == "shared-memory-stalls");
  // A few operations of double precision do not keep the unit for special functions busy.
  const auto doubles = [](double pipe) {
    return counted({{"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", pipe},
                    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 90}});
  };
  CHECK(found(doubles(11)) == "accidental-fp64");
  CHECK(first(doubles(2)) == "special-function-bound");
}

TEST_CASE("a queue is blamed on what is in it", "[diagnosis]") {
  const auto queued = [](double shared, double special) {
    return counted({{kComputes, 40},
                    {kMoves, 40},
                    {"smsp__inst_executed.sum", 1e6},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", shared},
                    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", special},
                    {waiting("mio_throttle"), 9},
                    {waiting("short_scoreboard"), 1}});
  };
  CHECK(found(queued(3e5, 0)) == "shared-memory-stalls");
  CHECK(found(queued(1e4, 0)).empty());
  CHECK(found(queued(3e5, 95)) == "special-function-bound");
}

TEST_CASE("warps that end long before their block are told from blocks that end fast",
          "[diagnosis]") {
  const auto ends = [](double time) {
    return counted({{kComputes, 10},
                    {kMoves, 10},
                    {"gpu__time_duration.sum", time},
                    {"launch__block_size", 512},
                    {"launch__waves_per_multiprocessor", 4},
                    {"sm__cycles_active.avg", 95},
                    {"sm__cycles_elapsed.max", 100},
                    {"sm__warps_active.avg.pct_of_peak_sustained_active", 25},
                    {"sm__maximum_warps_per_active_cycle_pct", 100}});
  };
  CHECK(found(ends(400'000)) == "tail-effect");
  CHECK(found(ends(40'000)) == "low-achieved-occupancy");
  CHECK(ends(400'000).bound == Bound::occupancy);
}

TEST_CASE("constants that few lanes share are told from a full pipe", "[diagnosis]") {
  const auto turns = [](double issue, double doubles) {
    return counted({{kComputes, 95},
                    {kMoves, 5},
                    {"smsp__issue_active.avg.pct_of_peak_sustained_active", issue},
                    {"smsp__inst_executed.sum", 1e6},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e4},
                    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 0},
                    {"sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", doubles},
                    {waiting("mio_throttle"), 30},
                    {waiting("wait"), 5}});
  };
  CHECK(found(turns(30, 0)) == "constant-cache-miss");
  CHECK(turns(30, 0).bound == Bound::latency);
  CHECK(found(turns(30, 95)) == "accidental-fp64");
}

TEST_CASE("constants by index are told by what fills an SM whose pipes are idle", "[diagnosis]") {
  const auto waits = [](double queue, double answers, double lsu) {
    return counted({{kComputes, 95},
                    {kMoves, 5},
                    {"smsp__issue_active.avg.pct_of_peak_sustained_active", 2},
                    {"smsp__inst_executed.sum", 1e6},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e3},
                    {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 0},
                    {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", lsu},
                    {waiting("mio_throttle"), queue},
                    {waiting("short_scoreboard"), answers},
                    {waiting("wait"), 3}});
  };
  CHECK(found(waits(15, 330, 1)) == "constant-cache-miss");
  CHECK(waits(15, 330, 1).bound == Bound::latency);
  CHECK(found(waits(30, 0, 1)) == "constant-cache-miss");
  CHECK(found(waits(15, 330, 95)).empty());  // the pipe of loads and stores explains it
}

TEST_CASE("turns of shared memory for idle lanes are work, those for conflicts are traffic",
          "[diagnosis]") {
  const auto tree = [](double lanes, double conflicts, double loads) {
    return counted({{kComputes, 77},
                    {kMoves, 81},
                    {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 81},
                    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 25},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 18},
                    {"smsp__thread_inst_executed_per_inst_executed.ratio", lanes},
                    {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", 80},
                    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", conflicts},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1e7},
                    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", loads}});
  };
  CHECK(tree(19, 0, 1e6).bound == Bound::compute);
  CHECK(tree(32, 0, 1e6).bound == Bound::memory);
  CHECK(tree(19, 9.5e6, 1e6).bound == Bound::memory);
  CHECK(tree(19, 0, 8e7).bound == Bound::memory);  // L1 is full of global loads
}

TEST_CASE("products of halves are for tensor cores before their arithmetic is trimmed",
          "[diagnosis]") {
  const auto product = [](double multiplications, DType type, double read = 6e7) {
    const std::vector<KernelCounters> kernels{
        {"k",
         {{kComputes, 67},
          {kMoves, 30},
          {"smsp__issue_active.avg.pct_of_peak_sustained_active", 70},
          {"smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", 56},
          {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 0},
          {"smsp__inst_executed.sum", 8.5e7},
          {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 9e6},
          {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 5e5},
          {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 2e6},
          {"sm__sass_data_bytes_mem_shared.sum", 3.7e8},
          {"l1tex__m_xbar2l1tex_read_bytes.sum", read},
          {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 5.3e8},
          {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", multiplications},
          {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 5.3e8}}}};
    DiagnosisInput input;
    input.kind = DeviceKind::cuda;
    input.device.multiprocessors = 132;
    input.timing.median = {100'000};
    input.kernels = kernels;
    input.dtypes = {type};
    return diagnose(input);
  };
  CHECK(first(product(5.3e8, DType::f16)) == "fma-without-tensor");
  CHECK(product(5.3e8, DType::f16).bound == Bound::compute);
  CHECK(found(product(0, DType::f16)) == "arithmetic-bound");      // additions of their own
  CHECK(first(product(5.3e8, DType::f32)) == "arithmetic-bound");  // would lose digits
  // Operands that are used once belong to no product.
  CHECK(found(product(5.3e8, DType::f16, 4.3e8)) == "arithmetic-bound");
}

TEST_CASE("a tensor pipe that idles is told from what its warps wait for", "[diagnosis]") {
  // Counted on an H200: two versions of the wiki's bf16 product by wgmma.
  const auto product = [](double gmma, double long_scoreboard) {
    return counted({{kComputes, 52.5},
                    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 54},
                    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", 60.97},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 15.6},
                    {waiting("gmma"), gmma},
                    {waiting("barrier"), 6.2},
                    {waiting("long_scoreboard"), long_scoreboard},
                    {waiting("membar"), 2.9},
                    {waiting("wait"), 1.69}});
  };
  const auto finding = [](const Diagnosis& diagnosis) {
    for (const auto& one : diagnosis.findings)
      if (one.id == "pattern-tensor-pipe-underfed") return one;
    return DiagnosisFinding{};
  };
  const auto serial = finding(product(7.79, 2.3));
  CHECK(serial.title == "Warps wait for matrix products that they have just begun");
  CHECK(serial.evidence.find("stall gmma (warps per issue) = 7.79") != std::string::npos);

  const auto starved = finding(product(3.66, 6.63));
  CHECK(starved.title == "The tensor pipe waits for operands");
  CHECK(starved.evidence.find("gmma") == std::string::npos);
}

TEST_CASE("arithmetic that fills the issue slots says so of its pipes, too", "[diagnosis]") {
  const auto rounds = [](double math_pipe_throttle) {
    const auto diagnosis = counted({{kComputes, 95},
                                    {kMoves, 4},
                                    {"smsp__issue_active.avg.pct_of_peak_sustained_active", 95},
                                    {waiting("math_pipe_throttle"), math_pipe_throttle},
                                    {waiting("wait"), 2},
                                    {waiting("not_selected"), 4}});
    REQUIRE(first(diagnosis) == "arithmetic-bound");
    return diagnosis.findings.front().evidence;
  };
  CHECK(rounds(8.4).find("stall math_pipe_throttle (warps per issue) = 8.4") != std::string::npos);
  CHECK(rounds(0.1).find("math_pipe") == std::string::npos);
}
