#include "kernels/measure/launch_metrics.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using ratchet::measure::Launch;
using ratchet::measure::launch_metrics;

namespace {

/// The limits of an H200, from cudaGetDeviceProperties.
cudaDeviceProp h200() {
  cudaDeviceProp device{};
  device.major = 9;
  device.minor = 0;
  device.warpSize = 32;
  device.multiProcessorCount = 132;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiProcessor = 2048;
  device.regsPerBlock = 65536;
  device.regsPerMultiprocessor = 65536;
  device.sharedMemPerBlock = 49152;
  device.sharedMemPerBlockOptin = 232448;
  device.sharedMemPerMultiprocessor = 233472;
  device.reservedSharedMemPerBlock = 1024;
  return device;
}

Launch softmax() {
  return {.kernel = "softmax",
          .grid = {4096, 1, 1},
          .block = {256, 1, 1},
          .registers = 34,
          .static_shared_bytes = 64,
          .configured_shared_bytes = 16384};
}

}  // namespace

TEST_CASE("the occupancy of a launch matches ncu's report", "[cuda]") {
  // ncu on an H200 for this launch: registers allow 6 blocks, warps 8, shared memory 14,
  // waves 5.17, 48 of 64 warps. By hand: 34 registers round up to 40, times 256 = 10240; 65536 /
  // 10240 = 6.4.
  const auto metrics = launch_metrics(softmax(), h200());

  CHECK(metrics.at("launch__occupancy_limit_registers") == 6);
  CHECK(metrics.at("launch__occupancy_limit_warps") == 8);
  CHECK(metrics.at("launch__occupancy_limit_shared_mem") == 14);
  CHECK(metrics.at("launch__waves_per_multiprocessor") == Catch::Approx(4096.0 / (132 * 6)));
  CHECK(metrics.at("sm__maximum_warps_per_active_cycle_pct") == 75);
}

TEST_CASE("a launch that fits on no multiprocessor has no occupancy", "[cuda]") {
  auto launch = softmax();
  launch.block = {1024, 1, 1};
  launch.registers = 255;  // 1024 × 256 registers are four times the register file

  const auto metrics = launch_metrics(launch, h200());

  CHECK_FALSE(metrics.contains("launch__waves_per_multiprocessor"));
  CHECK(metrics.at("launch__registers_per_thread") == 255);
}

TEST_CASE("grid and block sizes are products of all three extents", "[cuda]") {
  auto launch = softmax();
  launch.grid = {2, 3, 5};
  launch.block = {8, 4, 2};

  const auto metrics = launch_metrics(launch, h200());

  CHECK(metrics.at("launch__grid_size") == 30);
  CHECK(metrics.at("launch__block_size") == 64);
  CHECK(metrics.at("launch__thread_count") == 1920);
}
