#include "kernels/measure/launch_metrics.h"

#include <cuda_occupancy.h>

#include <algorithm>
#include <cmath>

namespace ratchet::measure {
namespace {

double product(const std::array<int, 3>& extents) {
  return static_cast<double>(extents[0]) * extents[1] * extents[2];
}

void add_occupancy(const Launch& launch, const cudaDeviceProp& device,
                   std::map<std::string, double>& metrics) {
  const cudaOccDeviceProp properties(device);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = device.maxThreadsPerBlock;
  attributes.numRegs = launch.registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(launch.static_shared_bytes);
  attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = device.sharedMemPerBlockOptin;
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  const auto threads = static_cast<int>(product(launch.block));
  cudaOccResult result{};
  if (cudaOccMaxActiveBlocksPerMultiprocessor(
          &result, &properties, &attributes, &state, threads,
          static_cast<std::size_t>(launch.dynamic_shared_bytes)) != CUDA_OCC_SUCCESS ||
      result.activeBlocksPerMultiprocessor < 1)
    return;
  const double blocks = result.activeBlocksPerMultiprocessor;
  const int warps_per_block = (threads + device.warpSize - 1) / device.warpSize;
  const int most_warps = device.maxThreadsPerMultiProcessor / device.warpSize;
  metrics["launch__occupancy_limit_blocks"] = result.blockLimitBlocks;
  metrics["launch__occupancy_limit_registers"] = result.blockLimitRegs;
  // Uses the L1 split that the driver chose for this launch, as ncu does; the calculator assumes
  // the largest split.
  if (launch.configured_shared_bytes > 0 && result.allocatedSharedMemPerBlock > 0)
    metrics["launch__occupancy_limit_shared_mem"] =
        std::floor(static_cast<double>(launch.configured_shared_bytes) /
                   static_cast<double>(result.allocatedSharedMemPerBlock));
  metrics["launch__occupancy_limit_warps"] = result.blockLimitWarps;
  metrics["launch__waves_per_multiprocessor"] =
      product(launch.grid) / (blocks * device.multiProcessorCount);
  const double warps = std::min<double>(most_warps, blocks * warps_per_block);
  metrics["sm__maximum_warps_avg_per_active_cycle"] = warps;
  metrics["sm__maximum_warps_per_active_cycle_pct"] = 100 * warps / most_warps;
}

}  // namespace

std::map<std::string, double> launch_metrics(const Launch& launch, const cudaDeviceProp& device) {
  std::map<std::string, double> metrics;
  const double grid = product(launch.grid);
  const double block = product(launch.block);
  metrics["launch__grid_size"] = grid;
  metrics["launch__block_size"] = block;
  metrics["launch__thread_count"] = grid * block;
  metrics["launch__registers_per_thread"] = launch.registers;
  metrics["launch__shared_mem_per_block_static"] = static_cast<double>(launch.static_shared_bytes);
  metrics["launch__shared_mem_per_block_dynamic"] =
      static_cast<double>(launch.dynamic_shared_bytes);
  metrics["launch__shared_mem_per_block_driver"] =
      static_cast<double>(device.reservedSharedMemPerBlock);
  if (launch.cluster[0] > 0) metrics["launch__cluster_size"] = product(launch.cluster);
  add_occupancy(launch, device, metrics);
  return metrics;
}

}  // namespace ratchet::measure
