// What rules v13 learned from kernels whose busy unit is not what they wait for, and beside each
// the twin in which it is.

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

#include "tests/kernels/diagnosis/counted_kernel.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

constexpr const char* kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDram = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active";
constexpr const char* kSharedTurns = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
constexpr const char* kRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* kSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

using Metrics = std::map<std::string, double>;

Metrics with(Metrics some, const Metrics& more) {
  for (const auto& [name, value] : more) some[name] = value;
  return some;
}

}  // namespace

TEST_CASE("an L2 that fences keep busy is not named, one that loads keep busy is", "[diagnosis]") {
  const Metrics busy{{kComputes, 9}, {kMoves, 65}, {kL2, 88}, {kDram, 4}};

  const auto fences = counted(with(busy, {{waiting("membar"), 36}, {waiting("wait"), 3}}));
  CHECK(found(fences) == "fence-stalls");

  const auto loads = counted(with(busy, {{waiting("long_scoreboard"), 36}, {waiting("wait"), 3}}));
  CHECK(first(loads) == "l2-bound");
}

TEST_CASE("a rather busy shared memory that no warp waits for is not named", "[diagnosis]") {
  const Metrics chained{{kComputes, 40},
                        {kMoves, 61},
                        {kL1, 61},
                        {kL2, 1},
                        {kDram, 0.1},
                        {kSharedTurns, 8'767'616},
                        {kRequests, 17'952},
                        {kSectors, 274'560},
                        {waiting("wait"), 2.7},
                        {"smsp__inst_executed.sum", 23'164'416},
                        {"launch__grid_size", 132},
                        {"smsp__issue_active.avg.pct_of_peak_sustained_active", 41}};

  const auto chain = counted(with(chained, {{waiting("short_scoreboard"), 0.26}}));
  CHECK(found(chain) == "dependency-chain");
  CHECK(chain.bound == Bound::latency);

  const auto waits = counted(with(chained, {{waiting("short_scoreboard"), 1.9}}));
  CHECK(first(waits) == "shared-memory-stalls");
  CHECK(waits.bound == Bound::memory);
  const auto full = counted(with(chained, {{kMoves, 85}, {kL1, 85}}));
  CHECK(first(full) == "shared-memory-stalls");
}

TEST_CASE("constants that are moved in the tensor pipe are no products that wait for operands",
          "[diagnosis]") {
  const Metrics crowded{
      {kComputes, 64}, {kMoves, 81}, {kL1, 81}, {kTensor, 3}, {waiting("long_scoreboard"), 6}};

  const auto moves =
      counted(with(crowded, {{"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 33'554'432}}));
  CHECK(found(moves).find("tensor-pipe-underfed") == std::string::npos);

  CHECK(found(counted(crowded)).find("tensor-pipe-underfed") != std::string::npos);
}

TEST_CASE("loads behind as many reductions wait for these", "[diagnosis]") {
  const Metrics loads{{kComputes, 1},        {kMoves, 7},
                      {kDram, 0.9},          {kRequests, 262'144},
                      {kSectors, 1'048'576}, {waiting("long_scoreboard"), 1471}};

  const auto behind =
      counted(with(loads, {{"smsp__sass_inst_executed_op_global_red.sum", 262'144}}));
  CHECK(found(behind) == "atomics-contention");

  const auto before = counted(with(loads, {{"smsp__sass_inst_executed_op_global_red.sum", 2'000}}));
  CHECK(found(before) == "latency-bound-loads");
}

TEST_CASE(
    "bytes that are loaded one by one are narrow where L1 gives the rest of a sector to others",
    "[diagnosis]") {
  const Metrics bytes{{kComputes, 27},
                      {kMoves, 40},
                      {kDram, 40},
                      {kL1, 24},
                      {kRequests, 3'145'728},
                      {kSectors, 9'437'184},
                      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 33.3},
                      {waiting("long_scoreboard"), 34.5}};

  const auto shared = counted(with(bytes, {{"l1tex__t_sector_hit_rate.pct", 66.7}}));
  CHECK(first(shared) == "narrow-access");

  const auto wasted = counted(with(bytes, {{"l1tex__t_sector_hit_rate.pct", 5}}));
  CHECK(found(wasted).find("narrow-access") == std::string::npos);
}
