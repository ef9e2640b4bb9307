#include "kernels/diagnosis/roofline.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace ratchet;
using Catch::Approx;

namespace {
const std::vector<Ceiling> kCeilings{{"copy_bandwidth", 100e9, "B/s"},
                                     {"read_bandwidth", 120e9, "B/s"},
                                     {"l2_bandwidth", 400e9, "B/s"},
                                     {"fp32", 1e12, "FLOP/s"}};

PhysicsCheck check() {
  PhysicsCheck made;
  made.work = {1000, 10, DType::f32};  // bytes over ns are GB/s
  made.median = {10};
  made.bandwidth_ceiling = 100e9;
  made.l2_ceiling = 400e9;
  made.compute_ceiling = 1e12;
  made.l2_bytes = 100;
  return made;
}
}  // namespace

TEST_CASE("declared work is placed under both roofs", "[roofline]") {
  // 50 bytes and 200 FLOP in 1 ns: 50 GB/s of 100, 200 GFLOP/s of 1000.
  const auto roofline = place_under_roofs(WorkDone{50, 200, DType::f32}, {1}, {}, kCeilings);

  CHECK(*roofline.intensity == Approx(4));
  CHECK(*roofline.bandwidth_fraction == Approx(0.5));
  CHECK(*roofline.compute_fraction == Approx(0.2));
  CHECK(roofline.binding == "memory");
  CHECK(roofline.source == "declared_work");
}

TEST_CASE("an unknown roof is no evidence", "[roofline]") {
  const auto roofline = place_under_roofs(WorkDone{50, 200, DType::bf16}, {1}, {}, kCeilings);
  CHECK_FALSE(roofline.compute_fraction);
  CHECK(roofline.binding == "memory");
  CHECK(place_under_roofs({}, {1}, {}, kCeilings).binding == "unknown");
}

TEST_CASE("counters replace work that is not declared", "[roofline]") {
  const std::vector<KernelCounters> kernels{
      {"a",
       {{"dram__bytes.sum", 30},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 10},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 20},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 50}}},
      {"b", {{"dram__bytes.sum", 20}}}};
  const auto one = place_under_roofs({}, {1}, std::span(kernels).first(1), kCeilings);
  const auto two = place_under_roofs({}, {1}, kernels, kCeilings);

  CHECK(*one.achieved_flops_per_s == Approx(130e9));  // an FMA is two
  CHECK(*two.achieved_bytes_per_s == Approx(50e9));
  CHECK_FALSE(two.achieved_flops_per_s);  // kernel b did not say
  CHECK(two.source == "counters");
}

TEST_CASE("undeclared products on tensor cores are held against the tensor roof", "[roofline]") {
  const std::vector<Ceiling> ceilings{
      {"copy_bandwidth", 100e9, "B/s"}, {"fp32", 1e12, "FLOP/s"}, {"bf16", 10e12, "FLOP/s"}};
  // 8,000 FLOP on tensor cores and 100 beside them, in 1 ns: 80 % and 10 % of their roofs.
  const std::vector<KernelCounters> kernels{
      {"gemm",
       {{"dram__bytes.sum", 30},
        {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", 8000},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 100},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0}}}};
  const auto roofline = place_under_roofs({}, {1}, kernels, ceilings);

  CHECK(*roofline.compute_fraction == Approx(0.8));
  CHECK(*roofline.compute_ceiling == 10e12);
  CHECK(roofline.binding == "compute");
}

TEST_CASE("undeclared arithmetic on pairs of 16-bit values is held against its own roof",
          "[roofline]") {
  const std::vector<Ceiling> ceilings{
      {"copy_bandwidth", 100e9, "B/s"}, {"fp32", 1e12, "FLOP/s"}, {"fp16_pairs", 2e12, "FLOP/s"}};
  // Two additions, two products and four operations of a fused one: 1,600 FLOP in 1 ns.
  const std::vector<KernelCounters> kernels{
      {"axpy",
       {{"dram__bytes.sum", 30},
        {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 100},
        {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 100},
        {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 300}}}};
  const auto roofline = place_under_roofs({}, {1}, kernels, ceilings);

  CHECK(*roofline.achieved_flops_per_s == Approx(1.6e12));
  CHECK(*roofline.compute_fraction == Approx(0.8));
  CHECK(*roofline.compute_ceiling == 2e12);
}

TEST_CASE("a kernel is held against a copy of its own size and cache state", "[roofline]") {
  const std::vector<Ceiling> ceilings{{"copy_bandwidth", 4e12, "B/s"},
                                      {"cold_copy_64MiB", 5e12, "B/s"},
                                      {"cold_copy_256MiB", 4.4e12, "B/s"}};
  constexpr double kMebi = 1024 * 1024;
  CHECK(*bandwidth_ceiling(ceilings, 256 * kMebi) == 4.4e12);
  CHECK(*bandwidth_ceiling(ceilings, 128 * kMebi) ==
        Approx(4.7e12));  // half of the way, by octaves
  CHECK(*bandwidth_ceiling(ceilings, kMebi) == 5e12);
  CHECK(*bandwidth_ceiling(ceilings, 4096 * kMebi) == 4.4e12);
  auto slower = ceilings;
  slower[1].value = slower[2].value = 3e12;  // what starts a copy says nothing about memory
  CHECK(*bandwidth_ceiling(slower, 128 * kMebi) == 4e12);
  CHECK(*bandwidth_ceiling(kCeilings, 128 * kMebi) == 100e9);  // measured by an earlier version
  const WorkDone work{128 * kMebi, 0, DType::f32};
  const auto roofline = place_under_roofs(work, {128 * kMebi / 4.7e3}, {}, ceilings);
  CHECK(*roofline.bandwidth_fraction == Approx(1));
  CHECK(*highest_bandwidth(ceilings) == 5e12);
}

TEST_CASE("physics allows what products of zeros reach", "[roofline]") {
  const std::vector<Ceiling> ceilings{
      {"bf16", 888e12, "FLOP/s"}, {"bf16_of_zeros", 962e12, "FLOP/s"}, {"fp32", 50e12, "FLOP/s"}};
  CHECK(*physical_compute_ceiling(ceilings, DType::bf16) == 962e12);
  CHECK(*compute_ceiling(ceilings, DType::bf16) == 888e12);
  CHECK(*physical_compute_ceiling(ceilings, DType::f32) == 50e12);
  CHECK_FALSE(physical_compute_ceiling(ceilings, DType::f8_e4m3));
}

TEST_CASE("achieved rates are metrics only where work is declared", "[roofline]") {
  Timing timing;
  timing.median = {10};
  const auto declared = place_under_roofs(WorkDone{50, 0, DType::f32}, {10}, {}, kCeilings);

  CHECK(device_independent_metrics(timing, declared) ==
        std::map<std::string, double>{{"median_ns", 10}, {"achieved_bytes_per_s", 5e9}});
  CHECK(device_independent_metrics(timing, Roofline{}).size() == 1);
}

TEST_CASE("faster than the ceiling by more than five percent is refused", "[roofline]") {
  auto physics = check();  // 1000 B in 10 ns: exactly the ceiling
  CHECK_FALSE(faster_than_physics(physics));
  physics.median = {9.6};  // 104.2 GB/s
  CHECK_FALSE(faster_than_physics(physics));
  physics.median = {9.4};  // 106.4 GB/s
  REQUIRE(faster_than_physics(physics));
  CHECK(faster_than_physics(physics)->code == "faster_than_physics");
}

TEST_CASE("outputs that may still be in the cache do not count", "[roofline]") {
  auto physics = check();
  physics.median = {9.2};
  physics.output_bytes = 500;  // 100 of them fit in the L2: 900 B in 9.2 ns
  CHECK_FALSE(faster_than_physics(physics));
}

TEST_CASE("cached work is compared with the cache, FLOPs with the pipes", "[roofline]") {
  auto physics = check();
  physics.cache_mode = CacheMode::hot;
  physics.median = {3};  // 333 GB/s
  CHECK_FALSE(faster_than_physics(physics));
  physics.median = {2};  // 500 GB/s
  CHECK(faster_than_physics(physics));
  physics.l2_ceiling.reset();
  CHECK_FALSE(faster_than_physics(physics));
  physics.work.flops = 2200;  // 1.1 TFLOP/s
  CHECK(faster_than_physics(physics));
}

TEST_CASE("physics allows the fastest measured direction", "[roofline]") {
  CHECK(*highest_bandwidth(kCeilings) == 120e9);
  CHECK(*bandwidth_ceiling(kCeilings) == 100e9);
  CHECK(*cache_ceiling(kCeilings) == 400e9);
  CHECK_FALSE(highest_bandwidth({}));
}

TEST_CASE("negative work is refused", "[roofline]") {
  Contract contract;
  contract.work = Work{"n - 10", "1", DType::f32};
  CHECK_FALSE(work_of(contract, {{"n", 9}}));
  CHECK((*work_of(contract, {{"n", 12}}))->bytes == 2);
}
