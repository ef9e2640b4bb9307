#include "kernels/measure/ceilings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/measure/ceiling_code.h"
#include "kernels/measure/device/flush.h"
#include "kernels/measure/device/sm_clock.h"

namespace ratchet::measure {
namespace {

constexpr int kWarmups = 3;
constexpr int kRepeats = 15;
// 1 GiB is many times any L2, and takes half a millisecond at 4 TB/s: launch cost is below 1 %.
constexpr std::size_t kStreamBytes = std::size_t{1} << 30U;
constexpr std::size_t kVectorBytes = 16;
constexpr unsigned kCopyThreads = 256;
constexpr std::uint32_t kL2Repeats = 32;
// Bytes read and written, MiB. Below, the launch says more than the memory.
constexpr std::array kColdCopies{64, 128, 256, 512};
constexpr std::uint32_t kProbeTurns = 32;
// Long compared with a launch, short enough not to reach the power limit.
constexpr double kRunNs = 1e6;
constexpr int kQueued = 100;

using Work = std::function<Status()>;

/// Device time of `work`, ns: the second best of the repetitions. `before` each, untimed.
Result<double> best_ns(Gpu& gpu, const Work& work, const Work& before = {}) {
  auto start = Event::create();
  auto stop = Event::create();
  if (!start || !stop) return (start ? stop : start).error();
  std::vector<double> times;
  for (int i = 0; i < kWarmups + kRepeats; ++i) {
    if (before)
      if (auto queued = before(); !queued) return queued.error();
    cudaEventRecord(start->get(), nullptr);
    if (auto queued = work(); !queued) return queued.error();
    cudaEventRecord(stop->get(), nullptr);
    if (const auto failure = gpu.finish())
      return Error{ErrorCode::internal, "measuring the ceilings failed: " + *failure};
    const auto elapsed = elapsed_ns(*start, *stop);
    if (!elapsed) return Error{ErrorCode::internal, "the timing events were not recorded"};
    if (i >= kWarmups) times.push_back(*elapsed);
  }
  std::ranges::sort(times);
  return times[1];
}

Status queued(cudaError_t error) {
  if (error == cudaSuccess) return {};
  return cuda_error("cannot queue a copy", error);
}

/// Values by name; where two methods measure the same ceiling, the better one.
class Roofs {
 public:
  explicit Roofs(Gpu& gpu) : gpu_(gpu) {}

  Status add(const std::string& what, const std::string& unit, double amount, const Work& work) {
    auto time = best_ns(gpu_, work);
    if (!time) return time.error();
    const double rate = amount / *time * 1e9;
    const auto known = std::ranges::find(values_, what, &CeilingValue::what);
    if (known == values_.end())
      values_.push_back({what, rate, unit});
    else
      known->value = std::max(known->value, rate);
    return {};
  }

  void add(CeilingValue value) { values_.push_back(std::move(value)); }
  [[nodiscard]] std::vector<CeilingValue> take() { return std::move(values_); }

 private:
  Gpu& gpu_;
  std::vector<CeilingValue> values_;
};

int capability_of(const Gpu& gpu) {
  return 10 * gpu.properties().major + gpu.properties().minor;
}

/// A kernel that copies `vectors` of 16 bytes.
Work copy_by_kernel(Gpu& gpu, const DeviceCode& code, DeviceMemory& from, DeviceMemory& to,
                    std::uint64_t vectors) {
  return [&gpu, &code, &from, &to, vectors]() -> Status {
    void* source = from.data();
    void* target = to.data();
    std::uint64_t count = vectors;
    std::array<void*, 3> arguments{static_cast<void*>(&source), static_cast<void*>(&target),
                                   static_cast<void*>(&count)};
    const auto blocks = static_cast<unsigned>((vectors + kCopyThreads - 1) / kCopyThreads);
    return gpu.launch(code, blocks, kCopyThreads, arguments);
  };
}

/// Copies as small as kernels are, each after a flush, with what a cache still holds of their
/// writes when they end.
Status add_cold_copies(Gpu& gpu, const DeviceCode& code, DeviceMemory& from, DeviceMemory& to,
                       Roofs& roofs) {
  auto flush = Flush::create(gpu);
  if (!flush) return flush.error();
  const Work flushed = [&] { return flush->queue(gpu); };
  // The pair of events costs something, too.
  auto nothing = best_ns(gpu, [] { return Status{}; }, flushed);
  if (!nothing) return nothing.error();
  for (const int mebibytes : kColdCopies) {
    const auto moved = std::size_t{1024} * 1024 * static_cast<std::size_t>(mebibytes);
    if (moved / 2 > from.bytes()) continue;
    auto time =
        best_ns(gpu, copy_by_kernel(gpu, code, from, to, moved / 2 / kVectorBytes), flushed);
    if (!time) return time.error();
    if (*time <= *nothing) continue;
    roofs.add({"cold_copy_" + std::to_string(mebibytes) + "MiB",
               static_cast<double>(moved) / (*time - *nothing) * 1e9, "B/s"});
  }
  return {};
}

Status add_memory(Gpu& gpu, Roofs& roofs) {
  const auto bytes = std::min(kStreamBytes, static_cast<std::size_t>(gpu.facts().memory_bytes) / 8);
  auto from = DeviceMemory::allocate(bytes);
  if (!from) return from.error();
  auto to = DeviceMemory::allocate(bytes);
  if (!to) return to.error();
  cudaMemset(from->data(), 0x3c, bytes);
  auto copy = gpu.assemble(copy_code(capability_of(gpu)), "ratchet_copy");
  if (!copy) return copy.error();
  const Work by_kernel = copy_by_kernel(gpu, *copy, *from, *to, bytes / kVectorBytes);
  const Work by_engine = [&] {
    return queued(
        cudaMemcpyAsync(to->data(), from->data(), bytes, cudaMemcpyDeviceToDevice, nullptr));
  };
  const double both = 2.0 * static_cast<double>(bytes);
  for (const auto& work : {by_kernel, by_engine})
    if (auto done = roofs.add("copy_bandwidth", "B/s", both, work); !done) return done;
  // Where there is no memory for a flush, the copy of gibibytes is the roof.
  (void)add_cold_copies(gpu, *copy, *from, *to, roofs);
  if (auto done = roofs.add("read_bandwidth", "B/s", gpu.bytes_read(*from, 1),
                            [&] { return gpu.read(*from, 1); });
      !done)
    return done;
  return roofs.add("write_bandwidth", "B/s", static_cast<double>(bytes),
                   [&] { return queued(cudaMemsetAsync(to->data(), 0x7e, bytes, nullptr)); });
}

/// Tries half and a quarter of the cache: where a split cache duplicates data in both halves, half
/// of its size does not fit.
Status add_cache(Gpu& gpu, Roofs& roofs) {
  for (const int part : {2, 4}) {
    const auto bytes =
        std::max(static_cast<std::size_t>(gpu.facts().l2_bytes / part), gpu.read_step_bytes());
    auto cached = DeviceMemory::allocate(bytes);
    if (!cached) return cached.error();
    cudaMemset(cached->data(), 0x3c, bytes);
    if (auto done = roofs.add("l2_read_bandwidth", "B/s", gpu.bytes_read(*cached, kL2Repeats),
                              [&] { return gpu.read(*cached, kL2Repeats); });
        !done)
      return done;
  }
  return {};
}

Status add_unit(Gpu& gpu, const RoofKernel& roof, Roofs& roofs) {
  auto code = gpu.assemble(roof.ptx, "ratchet_roof");
  if (!code) return {};  // an older driver: this ceiling stays unknown
  auto sink = DeviceMemory::allocate(sizeof(std::uint64_t));
  if (!sink) return sink.error();
  const unsigned blocks =
      static_cast<unsigned>(gpu.facts().multiprocessors) * roof.blocks_per_multiprocessor;
  std::uint32_t turns = kProbeTurns;
  const Work work = [&] {
    void* out = sink->data();
    std::array<void*, 2> arguments{static_cast<void*>(&turns), static_cast<void*>(&out)};
    return gpu.launch(*code, blocks, roof.threads, arguments);
  };
  auto probe = best_ns(gpu, work);
  if (!probe) return probe.error();
  turns = static_cast<std::uint32_t>(std::clamp(kProbeTurns * kRunNs / *probe, 1.0, 1e6));
  return roofs.add(roof.what, roof.unit, roof.operations * blocks * turns, work);
}

Status add_launches(Gpu& gpu, Roofs& roofs) {
  auto code = gpu.assemble(copy_code(capability_of(gpu)), "ratchet_copy");
  if (!code) return code.error();
  const auto launch = [&] {
    void* nowhere = nullptr;
    std::uint64_t vectors = 0;
    std::array<void*, 3> arguments{static_cast<void*>(&nowhere), static_cast<void*>(&nowhere),
                                   static_cast<void*>(&vectors)};
    return gpu.launch(*code, 1, 32, arguments);
  };
  std::vector<double> latencies;
  for (int i = 0; i < kWarmups + kQueued; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (auto queued = launch(); !queued) return queued;
    if (const auto failure = gpu.finish()) return Error{ErrorCode::internal, *failure};
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (i >= kWarmups) latencies.push_back(spent.count());
  }
  std::ranges::sort(latencies);
  roofs.add({"launch_latency", latencies[latencies.size() / 2], "s"});
  auto many = best_ns(gpu, [&]() -> Status {
    for (int i = 0; i < kQueued; ++i)
      if (auto queued = launch(); !queued) return queued;
    return {};
  });
  if (!many) return many.error();
  roofs.add({"launch_interval", *many / kQueued * 1e-9, "s"});
  return {};
}

}  // namespace

Result<std::vector<CeilingValue>> measure_ceilings(Gpu& gpu) {
  Roofs roofs(gpu);
  if (auto done = add_memory(gpu, roofs); !done) return done.error();
  if (auto done = add_cache(gpu, roofs); !done) return done.error();
  const int capability = capability_of(gpu);
  auto units = roof_kernels(capability);
  units.push_back(shared_memory_roof(capability));
  auto clock = SmClock::create();
  if (!clock) return clock.error();
  // Each unit draws its own power, which sets the clock that its roof was measured at.
  for (const auto& unit : units) {
    if (auto started = clock->start(gpu); !started) return started.error();
    if (auto done = add_unit(gpu, unit, roofs); !done) return done.error();
    auto seen = clock->turn(gpu);
    if (!seen) return seen.error();
    if (!*seen) continue;
    if (&unit == &units.front()) roofs.add({"sm_clock", **seen, "MHz"});
    roofs.add({"sm_clock_" + unit.what, **seen, "MHz"});
  }
  if (auto done = add_launches(gpu, roofs); !done) return done.error();
  return roofs.take();
}

}  // namespace ratchet::measure
