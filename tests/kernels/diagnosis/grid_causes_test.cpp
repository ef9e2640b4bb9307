// Grids that are too small or uneven, told from blocks that wait for each other.

#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/diagnosis/counted_kernel.h"

using namespace ratchet;
using namespace ratchet::test;

TEST_CASE("a barrier of the grid is told from loads between barriers of blocks", "[diagnosis]") {
  const auto meets = [](double atomics) {
    return counted({{kComputes, 16},
                    {kMoves, 20},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 0.1},
                    {"launch__grid_size", 132},
                    {"launch__waves_per_multiprocessor", 0.25},
                    {"smsp__sass_inst_executed_op_global_atom.sum", atomics},
                    {waiting("barrier"), 9.5},
                    {waiting("long_scoreboard"), 11},
                    {waiting("wait"), 2}});
  };
  CHECK(found(meets(132 * 65)) == "barrier-stalls latency-bound-loads");
  CHECK(meets(132 * 65).bound == Bound::latency);
  CHECK(first(meets(132)) == "latency-bound-loads");  // once per block: a sum at its end
}

TEST_CASE("more blocks do not help those that wait for the same instructions", "[diagnosis]") {
  const auto fetches = [](double fetch, double other) {
    return counted({{kComputes, 15},
                    {kMoves, 1},
                    {"smsp__issue_active.avg.pct_of_peak_sustained_active", 15},
                    {"launch__grid_size", 132},
                    {"launch__waves_per_multiprocessor", 0.06},
                    {waiting("no_instruction"), fetch},
                    {waiting("wait"), other}});
  };
  CHECK(found(fetches(9, 1)) == "instruction-cache-miss");
  CHECK(fetches(9, 1).bound == Bound::latency);
  CHECK(found(fetches(0.6, 4)) == "dependency-chain");
}

TEST_CASE("more blocks do not help those that wait for each other", "[diagnosis]") {
  const auto meets = [](double atomics) {
    return counted({{kComputes, 1},
                    {kMoves, 1},
                    {"launch__grid_size", 16},
                    {"launch__waves_per_multiprocessor", 0.06},
                    {"smsp__sass_inst_executed_op_global_atom.sum", atomics},
                    {waiting("barrier"), 25},
                    {waiting("long_scoreboard"), 10}});
  };
  CHECK(found(meets(16 * 64)) == "barrier-stalls");
  CHECK(found(meets(0)) == "small-grid barrier-stalls");
}

TEST_CASE("blocks that all run at once and end apart are uneven", "[diagnosis]") {
  const auto active = [](double share) {
    return counted({{kComputes, 34},
                    {kMoves, 10},
                    {"launch__grid_size", 128},
                    {"launch__waves_per_multiprocessor", 0.48},
                    {"gpu__time_duration.sum", 213'000},
                    {"sm__cycles_active.avg", share},
                    {"sm__cycles_elapsed.max", 100},
                    {waiting("not_selected"), 5}});
  };
  CHECK(first(active(47)) == "tail-effect");
  CHECK(found(active(95)).find("tail-effect") == std::string::npos);
}

TEST_CASE("uneven blocks are the limit, not what the long ones are full of", "[diagnosis]") {
  const auto uneven = [](double active) {
    return counted({{kComputes, 47},
                    {kMoves, 1},
                    {"launch__waves_per_multiprocessor", 1.03},
                    {"sm__cycles_active.avg", active},
                    {"sm__cycles_elapsed.max", 100}});
  };
  CHECK(found(uneven(51)) == "tail-effect");
  CHECK(uneven(51).bound == Bound::occupancy);
  CHECK(found(uneven(99)).empty());
}

TEST_CASE("a limit of resident blocks is none where there are not as many", "[diagnosis]") {
  const auto limited = [](double waves) {
    return counted({{kComputes, 5},
                    {kMoves, 8},
                    {"launch__waves_per_multiprocessor", waves},
                    {"launch__occupancy_limit_registers", 2},
                    {"launch__occupancy_limit_warps", 8},
                    {"sm__maximum_warps_per_active_cycle_pct", 25},
                    {"sm__warps_active.avg.pct_of_peak_sustained_active", 13},
                    {waiting("barrier"), 20},
                    {waiting("long_scoreboard"), 2}});
  };
  CHECK(first(limited(0.6)) == "barrier-stalls");
  CHECK(limited(0.6).bound == Bound::latency);
  CHECK(found(limited(1)).find("low-achieved-occupancy") != std::string::npos);
  CHECK(found(limited(0.6)).find("low-achieved-occupancy") == std::string::npos);
}

TEST_CASE("wider loads help as far as the grid fills the device", "[diagnosis]") {
  const auto narrow = [](double waves) {
    return counted({{kComputes, 2},
                    {kMoves, 3},
                    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 3},
                    {"launch__waves_per_multiprocessor", waves},
                    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 100},
                    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 2e6},
                    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e6},
                    {waiting("long_scoreboard"), 50}});
  };
  CHECK(first(narrow(8)) == "narrow-access");
  CHECK(found(narrow(0.06)) == "small-grid latency-bound-loads");
}
