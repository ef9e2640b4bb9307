#include "kernels/measure/ceilings.h"
#include "kernels/measure/counters.h"
#include "kernels/measure/cupti/range_profiler.h"
#include "kernels/measure/device/small_copies.h"
#include "kernels/measure/timer.h"
#include "kernels/protocol/shared_pieces.h"
#include "kernels/worker/cuda/device_judge.h"
#include "kernels/worker/device.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>

namespace ratchet::worker {
namespace {

Fault fault_of(std::string message) {
  return {"cuda_error", std::move(message)};
}

class CudaArena : public DeviceArena {
 public:
  CudaArena(measure::DeviceMemory memory, std::int64_t shift)
      : memory_(std::move(memory)), shift_(shift) {}
  [[nodiscard]] std::byte* base() const override { return memory_.data() + shift_; }
  Status write(std::int64_t offset, std::span<const std::byte> bytes) {
    return memory_.write(static_cast<std::size_t>(shift_ + offset), bytes);
  }

 private:
  measure::DeviceMemory memory_;
  std::int64_t shift_;
};

/// Memory shared by a judge.
class SharedArena : public DeviceArena {
 public:
  explicit SharedArena(measure::SharedMemory memory) : memory_(std::move(memory)) {}
  [[nodiscard]] std::byte* base() const override { return memory_.data(); }

 private:
  measure::SharedMemory memory_;
};

std::vector<measure::SmallCopy> small_copies_of(const DeviceArena& arena,
                                                std::span<const Device::Patch> patches) {
  std::vector<measure::SmallCopy> copies;
  for (const auto& patch : patches)
    copies.push_back({arena.base() + patch.offset, std::bit_cast<std::uint64_t>(patch.value),
                      static_cast<std::uint32_t>(patch.bytes)});
  return copies;
}

measure::Turn turn_of(const Turn& turn) {
  return {turn.call, turn.before, turn.after, turn.memory};
}

wire::LaunchRecord record_of(const measure::Launch& launch) {
  return {.kernel = launch.kernel,
          .start_ns = launch.start_ns,
          .end_ns = launch.end_ns,
          .grid = {launch.grid.begin(), launch.grid.end()},
          .block = {launch.block.begin(), launch.block.end()},
          .registers = launch.registers,
          .static_shared_bytes = launch.static_shared_bytes,
          .dynamic_shared_bytes = launch.dynamic_shared_bytes,
          .stream = launch.stream};
}

wire::Counters counters_of(const measure::CounterReport& report) {
  wire::Counters counters;
  for (const auto& kernel : report.kernels)
    counters.kernels.push_back({kernel.kernel, kernel.metrics});
  for (const auto& launch : report.launches) counters.launches.push_back(record_of(launch));
  for (const auto& one : report.calls) counters.calls.push_back({one.launches, one.span_ns});
  counters.unknown_metrics = report.unknown_metrics;
  counters.engine = report.engine;
  counters.cache = report.cache;
  counters.together = report.together;
  counters.unavailable = report.unavailable;
  return counters;
}

// A report shows tens; hot loops have hundreds.
constexpr std::size_t kMostPcs = 512;

std::int64_t samples_of(const wire::PcSample& pc) {
  std::int64_t sum = 0;
  for (const auto& [reason, count] : pc.reasons) sum += count;
  return sum;
}

/// Samples merged by instruction, most frequent first.
std::vector<wire::PcSample> merged(const std::vector<measure::SampledPc>& pcs) {
  std::map<std::pair<std::string, std::uint64_t>, wire::PcSample> by_place;
  for (const auto& pc : pcs) {
    auto& one = by_place[{pc.function, pc.offset}];
    one.function = pc.function;
    one.offset = static_cast<std::int64_t>(pc.offset);
    for (const auto& [reason, count] : pc.reasons)
      one.reasons[reason] += static_cast<std::int64_t>(count);
  }
  std::vector<wire::PcSample> all;
  for (auto& [place, pc] : by_place) all.push_back(std::move(pc));
  std::ranges::stable_sort(all, std::greater{}, samples_of);
  all.resize(std::min(all.size(), kMostPcs));
  return all;
}

wire::PcSamples samples_of(const measure::Counters::SampleReport& report) {
  return {.pcs = merged(report.samples.pcs),
          .total = static_cast<std::int64_t>(report.samples.total),
          .dropped = static_cast<std::int64_t>(report.samples.dropped),
          .period_cycles = report.samples.period_cycles,
          .calls = report.calls,
          .unavailable = report.unavailable};
}

/// A CUDA GPU: adapts kernels/measure, which does the measuring, to the job loop's interface.
class CudaDevice : public Device {
 public:
  void prepare_to_count() override {
    warm_up_ = std::jthread([] { measure::MetricHost::warm_up(); });
  }

  [[nodiscard]] DeviceKind kind() const override { return DeviceKind::cuda; }

  Result<DeviceInfo> open(int index) override {
    auto gpu = measure::Gpu::open(index);
    // The sandbox must be entered with a single thread.
    if (warm_up_.joinable()) warm_up_.join();
    if (!gpu) return gpu.error();
    gpu_ = *std::move(gpu);
    const auto& facts = gpu_->facts();
    DeviceInfo info{.kind = DeviceKind::cuda,
                    .index = facts.index,
                    .name = facts.name,
                    .arch = facts.arch,
                    .uuid = facts.uuid,
                    .driver = facts.driver,
                    .memory_bytes = facts.memory_bytes,
                    .l2_bytes = facts.l2_bytes,
                    .multiprocessors = facts.multiprocessors};
    if (facts.max_clock_mhz > 0) info.max_clock_mhz = facts.max_clock_mhz;
    return info;
  }

  [[nodiscard]] int count() const override { return gpu_->facts().devices; }

  Result<std::unique_ptr<DeviceArena>> allocate(std::int64_t bytes, std::int64_t shift) override {
    if (bytes < 0 || shift < 0)
      return Error{ErrorCode::internal, "an arena's size and shift must not be negative"};
    auto memory = measure::DeviceMemory::allocate(static_cast<std::size_t>(bytes + shift));
    if (!memory) return memory.error();
    return std::unique_ptr<DeviceArena>(new CudaArena(*std::move(memory), shift));
  }

  Status upload(DeviceArena& arena, std::int64_t offset,
                std::span<const std::byte> bytes) override {
    return static_cast<CudaArena&>(arena).write(offset, bytes);
  }

  Status download(const DeviceArena& arena, std::int64_t offset,
                  std::span<std::byte> bytes) override {
    return measure::read_device(arena.base() + offset, bytes);
  }

  Status copy(DeviceArena& to, const DeviceArena& from, std::int64_t offset,
              std::int64_t bytes) override {
    return measure::queue_copy(to.base() + offset, from.base() + offset,
                               static_cast<std::size_t>(bytes));
  }

  Status peek(const DeviceArena& arena, std::span<Patch> patches) override {
    if (auto ready = ready_copies(); !ready) return ready;
    auto copies = small_copies_of(arena, patches);
    if (auto read = copies_->read(*gpu_, copies); !read) return read;
    for (std::size_t i = 0; i < patches.size(); ++i)
      patches[i].value = std::bit_cast<std::array<std::byte, 8>>(copies[i].value);
    return {};
  }

  Status patch(DeviceArena& arena, std::span<const Patch> patches) override {
    if (auto ready = ready_copies(); !ready) return ready;
    return copies_->write(*gpu_, small_copies_of(arena, patches));
  }

  void forget_calls() override {
    if (timer_) timer_->forget();
  }

  /// The legacy default stream, on which kernels that ignore their stream parameter run as well.
  [[nodiscard]] void* stream() const override { return nullptr; }

  std::optional<Fault> run(const Invocation& call) override {
    call();
    if (auto failure = gpu_->finish()) return fault_of(*std::move(failure));
    return std::nullopt;
  }

  Result<Timed> time(std::span<const Turn> rotation, const wire::TimeBlock& plan) override {
    if (!timer_) {
      auto timer = measure::Timer::create(*gpu_);
      if (!timer) return timer.error();
      timer_ = *std::move(timer);
    }
    std::vector<measure::Turn> turns;
    for (const auto& turn : rotation) turns.push_back(turn_of(turn));
    auto sampled = timer_->time(turns, {.warmup = plan.warmup,
                                        .samples = plan.samples,
                                        .cold = plan.cache_mode == CacheMode::cold,
                                        .host_time = plan.host_time,
                                        .time_limit_ms = plan.time_limit_ms});
    if (!sampled) return sampled.error();
    Timed timed;
    timed.samples = {.elapsed_ns = std::move(sampled->elapsed_ns),
                     .clock_mhz = std::move(sampled->clock_mhz),
                     .flags = std::move(sampled->flags),
                     .time_limit_hit = sampled->time_limit_hit,
                     .conditions = plan.host_time ? "clock: the host's"
                                   : sampled->by_events
                                       ? "clock: CUDA events"
                                       : "clock: the device's stamps (CUPTI Activity)"};
    if (sampled->tracing_ns > 0) timed.samples.tracing_ns = sampled->tracing_ns;
    if (sampled->failure) timed.fault = fault_of(*std::move(sampled->failure));
    return timed;
  }

  Result<Counted> count(std::span<const Turn> rotation, const wire::Count& plan) override {
    if (!counters_) {
      auto counters = measure::Counters::create(*gpu_);
      if (!counters) return without_counters(counters.error());
      counters_ = *std::move(counters);
    }
    std::optional<wire::PcSamples> samples;
    if (plan.sampling) {
      auto sampled = counters_->sample(turn_of(rotation.front()),
                                       static_cast<unsigned>(plan.sampling->period_log2),
                                       plan.sampling->calls);
      if (!sampled) return without_counters(sampled.error());
      if (sampled->failure) return Counted{{}, fault_of(*std::move(sampled->failure))};
      samples = samples_of(*sampled);
    }
    std::vector<measure::Turn> turns;
    for (const auto& turn : rotation) turns.push_back(turn_of(turn));
    auto report = counters_->count(turns, plan.metrics);
    if (!report) return without_counters(report.error());
    Counted counted{counters_of(*report), std::nullopt};
    counted.counters.samples = std::move(samples);
    if (report->failure) counted.fault = fault_of(*std::move(report->failure));
    return counted;
  }

  Result<std::vector<wire::CeilingValue>> ceilings() override {
    auto roofs = measure::measure_ceilings(*gpu_);
    if (!roofs) return roofs.error();
    std::vector<wire::CeilingValue> values;
    for (auto& roof : *roofs) values.push_back({std::move(roof.what), roof.value, roof.unit});
    return values;
  }

  Result<std::unique_ptr<DeviceJudge>> judge(void* entry) override {
    return std::unique_ptr<DeviceJudge>(std::make_unique<CudaJudge>(*gpu_, entry));
  }

  Result<std::unique_ptr<DeviceArena>> attach(std::span<const Fd> descriptors,
                                              std::int64_t bytes) override {
    auto memory = measure::SharedMemory::adopt(
        *gpu_, descriptors,
        wire::pieces_of(bytes + DeviceJudge::kShiftRoom, std::ssize(descriptors)));
    if (!memory) return memory.error();
    return std::unique_ptr<DeviceArena>(std::make_unique<SharedArena>(*std::move(memory)));
  }

 private:
  Status ready_copies() {
    if (copies_) return {};
    auto made = measure::SmallCopies::create();
    if (!made) return made.error();
    copies_.emplace(*std::move(made));
    return {};
  }

  static Result<Counted> without_counters(const Error& error) {
    if (error.code != ErrorCode::unavailable) return error;
    Counted counted;
    counted.counters.engine = "none";
    counted.counters.cache = "as_is";
    counted.counters.unavailable = error.message + (error.hint.empty() ? "" : ". " + error.hint);
    return counted;
  }

  std::jthread warm_up_;
  std::unique_ptr<measure::Gpu> gpu_;
  std::optional<measure::SmallCopies> copies_;
  std::unique_ptr<measure::Timer> timer_;
  std::unique_ptr<measure::Counters> counters_;
};

}  // namespace

std::unique_ptr<Device> make_device() {
  return std::make_unique<CudaDevice>();
}

}  // namespace ratchet::worker
