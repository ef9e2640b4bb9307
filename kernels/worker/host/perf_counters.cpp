#include "kernels/worker/host/perf_counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace ratchet::worker {
namespace {

constexpr std::size_t kGroup = 4;  // every x86 and Arm core of the last decade has four counters

struct KnownEvent {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t result) {
  return cache | std::uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8U | result << 16U;
}

constexpr std::array kEvents{
    KnownEvent{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    KnownEvent{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    KnownEvent{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    KnownEvent{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    KnownEvent{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    KnownEvent{"branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    KnownEvent{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    KnownEvent{"stalled-cycles-frontend", PERF_TYPE_HARDWARE,
               PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    KnownEvent{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    KnownEvent{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    KnownEvent{"L1-dcache-loads", PERF_TYPE_HW_CACHE,
               cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    KnownEvent{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
               cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    KnownEvent{"LLC-loads", PERF_TYPE_HW_CACHE,
               cache_event(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    KnownEvent{"LLC-load-misses", PERF_TYPE_HW_CACHE,
               cache_event(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    KnownEvent{"dTLB-load-misses", PERF_TYPE_HW_CACHE,
               cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    KnownEvent{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    KnownEvent{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    KnownEvent{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    KnownEvent{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    KnownEvent{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    KnownEvent{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}};

Fd open_event(const KnownEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.inherit = 1;  // OpenMP threads are started later
  // Context switches and migrations happen only inside the operating system's kernel.
  attributes.exclude_kernel =
      event.type == PERF_TYPE_SOFTWARE && (event.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                           event.config == PERF_COUNT_SW_CPU_MIGRATIONS)
          ? 0
          : 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return Fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

std::string reason_of(int error) {
  if (error == EACCES || error == EPERM)
    return "perf_event: not permitted; set `sysctl kernel.perf_event_paranoid=2` or give the "
           "server "
           "CAP_PERFMON";
  if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
    return "perf_event: this machine has no hardware counters (common in virtual machines); use a "
           "virtual PMU or bare metal";
  return std::string("perf_event: ") + std::strerror(error);
}

/// An event's count so far. Differences are used instead of resets, because counts of threads that
/// have ended cannot be reset.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled = 0;
  std::uint64_t running = 0;
};

Reading reading_of(int fd) {
  Reading reading;
  if (::read(fd, &reading, sizeof reading) != sizeof reading) return {};
  return reading;
}

/// The count between two readings; empty when the event never ran.
std::optional<double> difference(const Reading& before, const Reading& after) {
  if (after.running <= before.running) return std::nullopt;
  // Multiplexed counters run only part of the time; the count is extrapolated, as perf does.
  return static_cast<double>(after.value - before.value) *
         static_cast<double>(after.enabled - before.enabled) /
         static_cast<double>(after.running - before.running);
}

}  // namespace

PerfCounters::PerfCounters(bool observe)
    : observer_(observe ? std::make_unique<CallObserver>() : nullptr) {
  for (const auto& known : kEvents) {
    Fd fd = open_event(known);
    if (!fd && known.config == PERF_COUNT_HW_CPU_CYCLES && known.type == PERF_TYPE_HARDWARE)
      hardware_error_ = errno;
    if (fd) events_.push_back({known.name, std::move(fd)});
  }
}

const PerfCounters::Event* PerfCounters::find(const std::string& name) const {
  const auto found =
      std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.name == name; });
  return found == events_.end() ? nullptr : &*found;
}

wire::Counters PerfCounters::read(const wire::Count& plan, const Turn& turn,
                                  const std::function<void()>& prepare) {
  wire::Counters counters;
  counters.cache = "flushed";
  if (hardware_error_) counters.unavailable = reason_of(hardware_error_);
  std::vector<const Event*> wanted;
  for (const auto& name : plan.metrics) {
    if (const Event* event = find(name))
      wanted.push_back(event);
    else
      counters.unknown_metrics.push_back(name);
  }
  counters.engine = wanted.empty() ? "none" : "perf_event";
  KernelCounters kernel;
  // First, because it makes the call that starts threads.
  if (observer_ && plan.watches) {
    auto seen = observer_->observe(turn, prepare);
    counters.samples = std::move(seen.samples);
    kernel.metrics = std::move(seen.metrics);
  } else if (wanted.empty()) {
    return counters;
  }
  for (std::size_t first = 0; first < wanted.size(); first += kGroup) {
    const auto group = std::span(wanted).subspan(first, std::min(kGroup, wanted.size() - first));
    prepare();
    std::vector<Reading> before;
    for (const Event* event : group) before.push_back(reading_of(event->fd.get()));
    for (const Event* event : group) ::ioctl(event->fd.get(), PERF_EVENT_IOC_ENABLE, 0);
    turn.call();
    for (const Event* event : group) ::ioctl(event->fd.get(), PERF_EVENT_IOC_DISABLE, 0);
    for (std::size_t i = 0; i < group.size(); ++i)
      if (const auto counted = difference(before[i], reading_of(group[i]->fd.get())))
        kernel.metrics[group[i]->name] = *counted;
  }
  if (kernel.metrics.contains("cycles") && kernel.metrics["cycles"] > 0 &&
      kernel.metrics.contains("instructions"))
    kernel.metrics["ipc"] = kernel.metrics["instructions"] / kernel.metrics["cycles"];
  counters.kernels.push_back(std::move(kernel));
  return counters;
}

}  // namespace ratchet::worker
