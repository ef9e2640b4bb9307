#include "kernels/worker/host/call_observer.h"

#include <link.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/worker/host/core.h"

namespace ratchet::worker {
namespace {

using std::chrono::steady_clock;

// A sample takes 16 bytes: room for 4,096 of them, at 10 kHz twice as long as we observe.
// Unprivileged users may map about 516 kB of such rings in total.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kRing = kPage * 16;
constexpr std::uint64_t kPeriodNs = 100'000;
constexpr std::chrono::milliseconds kObserve{200};
constexpr int kMostCalls = 2000;
constexpr std::size_t kMostPlaces = 512;

struct Usage {
  double cpu_ns = 0, first_ns = 0, system_ns = 0, faults = 0, switches = 0, delay_ns = 0;
};

double nanoseconds(const timeval& time) {
  return 1e9 * static_cast<double>(time.tv_sec) + 1e3 * static_cast<double>(time.tv_usec);
}

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Of all threads; `first_ns` of the calling one.
Usage usage_now() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {1e9 * seconds_of(CLOCK_PROCESS_CPUTIME_ID),
          1e9 * seconds_of(CLOCK_THREAD_CPUTIME_ID),
          nanoseconds(used.ru_stime),
          static_cast<double>(used.ru_minflt),
          static_cast<double>(used.ru_nivcsw),
          run_delay_ns().value_or(0)};
}

/// The shared object around an address, and the address in it.
std::pair<std::string, std::uint64_t> place_of(std::uint64_t address) {
  struct Search {
    std::uint64_t address;
    std::pair<std::string, std::uint64_t> found;
  } search{address, {"", address}};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      const auto begin = info->dlpi_addr + part.p_vaddr;
      if (part.p_type != PT_LOAD || wanted.address < begin ||
          wanted.address >= begin + part.p_memsz)
        continue;
      const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
      // Candidates are loaded from a descriptor, see native_kernel.cpp.
      const bool ours = path.starts_with("/proc/self/fd/");
      wanted.found = {path.empty() ? "program"
                      : ours       ? "kernel"
                                   : std::string(path.substr(path.rfind('/') + 1)),
                      wanted.address - info->dlpi_addr};
      return 1;
    }
    return 0;
  };
  ::dl_iterate_phdr(look, &search);
  return search.found;
}

}  // namespace

CallObserver::CallObserver() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = kPeriodNs;
  attributes.sample_type = PERF_SAMPLE_IP;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  fd_ = Fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd_) {
    error_ = errno;
    return;
  }
  void* const mapped =
      ::mmap(nullptr, kPage + kRing, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (mapped == MAP_FAILED)
    error_ = errno;
  else
    ring_ = static_cast<std::byte*>(mapped);
}

CallObserver::~CallObserver() {
  if (ring_) ::munmap(ring_, kPage + kRing);
}

wire::PcSamples CallObserver::samples_since(std::uint64_t begin) const {
  wire::PcSamples found;
  found.period_cycles = 0;
  if (!ring_) {
    found.unavailable = std::string("perf_event: the call cannot be sampled: ") +
                        std::strerror(error_) +
                        "; set `sysctl kernel.perf_event_paranoid=2` or give the server "
                        "CAP_PERFMON";
    return found;
  }
  auto* const control = reinterpret_cast<perf_event_mmap_page*>(ring_);
  const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
  const auto copy = [&](std::uint64_t from, void* to, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      static_cast<std::byte*>(to)[i] = ring_[kPage + (from + i) % kRing];
  };
  std::map<std::uint64_t, std::int64_t> counts;
  for (auto at = begin; at + sizeof(perf_event_header) <= head;) {
    perf_event_header header{};
    copy(at, &header, sizeof header);
    if (header.size < sizeof header) break;
    if (header.type == PERF_RECORD_SAMPLE) {
      std::uint64_t address = 0;
      copy(at + sizeof header, &address, sizeof address);
      ++counts[address];
      ++found.total;
    } else if (header.type == PERF_RECORD_LOST) {
      ++found.dropped;
    }
    at += header.size;
  }
  std::atomic_ref(control->data_tail).store(head, std::memory_order_release);
  // Many addresses with one sample each: those of one object are still told apart from others.
  std::vector<std::pair<std::int64_t, std::uint64_t>> order;
  for (const auto& [address, count] : counts) order.emplace_back(-count, address);
  std::ranges::sort(order);
  std::map<std::string, std::int64_t> rest;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto [object, offset] = place_of(order[i].second);
    if (i < kMostPlaces)
      found.pcs.push_back(
          {std::move(object), static_cast<std::int64_t>(offset), {{"cpu-clock", -order[i].first}}});
    else
      rest[object] -= order[i].first;
  }
  for (const auto& [object, count] : rest)
    found.pcs.push_back({object, -1, {{"cpu-clock", count}}});
  return found;
}

CallObserver::Observation CallObserver::observe(const Turn& turn,
                                                const std::function<void()>& prepare) {
  // The first call starts threads and touches new pages.
  prepare();
  turn.call();
  std::uint64_t begin = 0;
  if (ring_) begin = reinterpret_cast<perf_event_mmap_page*>(ring_)->data_head;
  Usage sum;
  double wall_ns = 0;
  int calls = 0;
  const auto deadline = steady_clock::now() + 4 * kObserve;
  do {
    prepare();
    if (ring_) ::ioctl(fd_.get(), PERF_EVENT_IOC_ENABLE, 0);
    const Usage before = usage_now();
    const auto start = steady_clock::now();
    turn.call();
    wall_ns += std::chrono::duration<double, std::nano>(steady_clock::now() - start).count();
    const Usage after = usage_now();
    if (ring_) ::ioctl(fd_.get(), PERF_EVENT_IOC_DISABLE, 0);
    sum.cpu_ns += after.cpu_ns - before.cpu_ns;
    sum.first_ns += after.first_ns - before.first_ns;
    sum.system_ns += after.system_ns - before.system_ns;
    sum.faults += after.faults - before.faults;
    sum.switches += after.switches - before.switches;
    sum.delay_ns += after.delay_ns - before.delay_ns;
    ++calls;
  } while (calls < kMostCalls && wall_ns < 1e6 * static_cast<double>(kObserve.count()) &&
           steady_clock::now() < deadline);
  Observation seen;
  const double system_ns = std::min(sum.system_ns, sum.cpu_ns);
  seen.metrics = {
      {"duration_time", wall_ns / calls},   {"user_time", (sum.cpu_ns - system_ns) / calls},
      {"system_time", system_ns / calls},   {"first_thread_time", sum.first_ns / calls},
      {"minor-faults", sum.faults / calls}, {"involuntary-context-switches", sum.switches / calls}};
  if (run_delay_ns()) seen.metrics["run_delay"] = std::max(0.0, sum.delay_ns) / calls;
  seen.samples = samples_since(begin);
  seen.samples.calls = calls;
  return seen;
}

}  // namespace ratchet::worker
