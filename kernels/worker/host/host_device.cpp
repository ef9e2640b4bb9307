// The processor of this machine as a device.
//
// Times are from steady_clock, around the call only, pinned to one core if the kernel has no
// threads. The core's clock is measured before and after each block of samples.

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/worker/device.h"
#include "kernels/worker/host/cache_flush.h"
#include "kernels/worker/host/ceilings.h"
#include "kernels/worker/host/core.h"
#include "kernels/worker/host/host_info.h"
#include "kernels/worker/host/perf_counters.h"
#include "server/core/clock.h"

namespace ratchet::worker {
namespace {

using std::chrono::steady_clock;
// A block that waited longer than this for a core is flagged.
constexpr double kHeld = 0.1;
// Threads may wait at the same time, so that their sum exceeds the block's time.
constexpr double kMostHeld = 0.99;
using NanosecondsSpent = std::chrono::duration<double, std::nano>;

/// A mapping of its own, so that writes far outside fault instead of reaching other data.
class HostArena : public DeviceArena {
 public:
  HostArena(std::byte* start, std::size_t mapped, std::int64_t shift)
      : start_(start), mapped_(mapped), shift_(shift) {}
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;
  ~HostArena() override { ::munmap(start_, mapped_); }

  [[nodiscard]] std::byte* base() const override { return start_ + shift_; }

 private:
  std::byte* start_;
  std::size_t mapped_;
  std::int64_t shift_;
};

class HostDevice : public Device {
 public:
  [[nodiscard]] DeviceKind kind() const override { return DeviceKind::host; }

  void prepare_to_count() override { counting_ = true; }

  Result<DeviceInfo> open(int index) override {
    if (index != 0) return not_found("the host has only device 0", "Use device 0.");
    counters_ = std::make_unique<PerfCounters>(counting_);
    return host_info();
  }

  Result<std::unique_ptr<DeviceArena>> allocate(std::int64_t bytes, std::int64_t shift) override {
    const auto mapped = static_cast<std::size_t>(bytes + shift);
    void* start =
        ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
      return unavailable("not enough memory for the buffers of one case of the contract");
    return std::unique_ptr<DeviceArena>(
        std::make_unique<HostArena>(static_cast<std::byte*>(start), mapped, shift));
  }

  Status upload(DeviceArena& arena, std::int64_t offset,
                std::span<const std::byte> bytes) override {
    std::memcpy(arena.base() + offset, bytes.data(), bytes.size());
    return {};
  }

  Status download(const DeviceArena& arena, std::int64_t offset,
                  std::span<std::byte> bytes) override {
    std::memcpy(bytes.data(), arena.base() + offset, bytes.size());
    return {};
  }

  Status copy(DeviceArena& to, const DeviceArena& from, std::int64_t offset,
              std::int64_t bytes) override {
    std::memcpy(to.base() + offset, from.base() + offset, static_cast<std::size_t>(bytes));
    return {};
  }

  Status peek(const DeviceArena& arena, std::span<Patch> patches) override {
    for (auto& one : patches)
      std::memcpy(one.value.data(), arena.base() + one.offset, static_cast<std::size_t>(one.bytes));
    return {};
  }

  Status patch(DeviceArena& arena, std::span<const Patch> patches) override {
    for (const auto& one : patches)
      std::memcpy(arena.base() + one.offset, one.value.data(), static_cast<std::size_t>(one.bytes));
    return {};
  }

  [[nodiscard]] void* stream() const override { return nullptr; }

  std::optional<Fault> run(const Invocation& call) override {
    call();
    return std::nullopt;
  }

  Result<Timed> time(std::span<const Turn> rotation, const wire::TimeBlock& plan) override {
    Timed timed;
    const CorePin pin;
    const auto first_clock = core_megahertz();
    const auto begin = steady_clock::now();
    bool work_was_there = true;
    std::size_t next = 0;
    const auto take = [&] {
      const auto [elapsed, there] = sample(rotation[next++ % rotation.size()], plan.cache_mode);
      work_was_there = work_was_there && there;
      return elapsed;
    };
    for (int i = 0; i < plan.warmup; ++i) take();
    const auto delay_before = run_delay_ns();
    const auto block_begin = steady_clock::now();
    for (int i = 0; i < plan.samples; ++i) {
      timed.samples.elapsed_ns.push_back(take());
      if (milliseconds_since(begin) < plan.time_limit_ms) continue;
      timed.samples.time_limit_hit = i + 1 < plan.samples;
      break;
    }
    if (const auto last_clock = core_megahertz(); first_clock && last_clock)
      timed.samples.clock_mhz.assign(timed.samples.elapsed_ns.size(),
                                     (*first_clock + *last_clock) / 2);
    if (!work_was_there) timed.samples.flags.emplace_back("unsynchronised_work");
    timed.samples.conditions = described(pin);
    if (const auto delay = run_delay_ns(); delay && delay_before)
      timed.samples.held = std::clamp(
          (*delay - *delay_before) / NanosecondsSpent(steady_clock::now() - block_begin).count(),
          0.0, kMostHeld);
    if (timed.samples.held.value_or(0) > kHeld) timed.samples.flags.emplace_back("cores_held");
    return timed;
  }

  Result<Counted> count(std::span<const Turn> rotation, const wire::Count& plan) override {
    const Turn& turn = rotation.front();
    Counted counted;
    counted.counters = counters_->read(plan, turn, [&] {
      turn.before();
      flush_(turn.memory);
    });
    return counted;
  }

  Result<std::vector<wire::CeilingValue>> ceilings() override { return measure_host_ceilings(); }

 private:
  /// Elapsed nanoseconds, and whether the outputs were written when the call returned.
  std::pair<double, bool> sample(const Turn& turn, CacheMode mode) {
    turn.before();
    if (mode == CacheMode::cold) flush_(turn.memory);
    const auto start = steady_clock::now();
    turn.call();
    const auto stop = steady_clock::now();
    return {NanosecondsSpent(stop - start).count(), turn.after()};
  }

  bool counting_ = false;
  std::unique_ptr<PerfCounters> counters_;
  CacheFlush flush_;
};

}  // namespace

std::unique_ptr<Device> make_device() {
  return std::make_unique<HostDevice>();
}

}  // namespace ratchet::worker
