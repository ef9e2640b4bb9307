#include "kernels/measure/ceilings.h"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace ratchet::measure {
namespace {

constexpr int kWarmups = 3;
constexpr int kRepeats = 15;
// 1 GiB is many times any L2, and takes half a millisecond at 4 TB/s: launch cost is below 1 %.
constexpr std::size_t kBufferBytes = std::size_t{1} << 30U;
constexpr std::uint32_t kTurns = 4096;

/// Median device time of `work`, ns.
Result<double> median_ns(Gpu& gpu, const std::function<Status()>& work) {
  auto start = Event::create();
  auto stop = Event::create();
  if (!start || !stop) return (start ? stop : start).error();
  std::vector<double> times;
  for (int i = 0; i < kWarmups + kRepeats; ++i) {
    cudaEventRecord(start->get(), nullptr);
    if (auto queued = work(); !queued) return queued.error();
    cudaEventRecord(stop->get(), nullptr);
    if (const auto failure = gpu.finish())
      return Error{ErrorCode::internal, "measuring the ceilings failed: " + *failure, ""};
    const auto elapsed = elapsed_ns(*start, *stop);
    if (!elapsed) return Error{ErrorCode::internal, "the timing events did not happen", ""};
    if (i >= kWarmups) times.push_back(*elapsed);
  }
  const auto middle = times.begin() + kRepeats / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

Status queued(cudaError_t error) {
  if (error == cudaSuccess) return {};
  return cuda_error("cannot queue a copy", error);
}

}  // namespace

Result<std::vector<CeilingValue>> measure_ceilings(Gpu& gpu) {
  const auto bytes = std::min(kBufferBytes, static_cast<std::size_t>(gpu.facts().memory_bytes) / 8);
  auto from = DeviceMemory::allocate(bytes);
  if (!from) return from.error();
  auto to = DeviceMemory::allocate(bytes);
  if (!to) return to.error();
  // Half of the cache, so that it stays there whatever else is cached.
  const auto l2_bytes =
      std::max(static_cast<std::size_t>(gpu.facts().l2_bytes) / 2, gpu.read_step_bytes());
  auto cached = DeviceMemory::allocate(l2_bytes);
  if (!cached) return cached.error();
  cudaMemset(from->data(), 0x3c, bytes);
  cudaMemset(cached->data(), 0x3c, l2_bytes);

  struct Roof {
    const char* what;
    double amount;
    const char* unit;
    std::function<Status()> work;
  };
  constexpr std::uint32_t kL2Repeats = 32;
  const Roof roofs[] = {
      {"copy_bandwidth", 2.0 * static_cast<double>(bytes), "B/s",
       [&] {
         return queued(
             cudaMemcpyAsync(to->data(), from->data(), bytes, cudaMemcpyDeviceToDevice, nullptr));
       }},
      {"read_bandwidth", gpu.bytes_read(*from, 1), "B/s", [&] { return gpu.read(*from, 1); }},
      {"write_bandwidth", static_cast<double>(bytes), "B/s",
       [&] { return queued(cudaMemsetAsync(to->data(), 0x7e, bytes, nullptr)); }},
      {"l2_read_bandwidth", gpu.bytes_read(*cached, kL2Repeats), "B/s",
       [&] { return gpu.read(*cached, kL2Repeats); }},
      {"fp32", gpu.multiply_add_flops(kTurns), "FLOP/s", [&] { return gpu.multiply_add(kTurns); }},
  };
  std::vector<CeilingValue> values;
  for (const auto& roof : roofs) {
    auto time = median_ns(gpu, roof.work);
    if (!time) return time.error();
    values.push_back({roof.what, roof.amount / *time * 1e9, roof.unit});
  }
  return values;
}

}  // namespace ratchet::measure
