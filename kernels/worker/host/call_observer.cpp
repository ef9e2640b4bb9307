#include "kernels/worker/host/call_observer.h"

#include <link.h>
#include <linux/perf_event.h>
#include <sched.h>
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

// A sample takes 24 bytes: room for 2,730 of them, at 10 kHz the time of one long call.
// Unprivileged users may map about 516 kB of such rings per core.
constexpr std::size_t kPage = 4096;
constexpr std::size_t kRing = kPage * 16;
constexpr std::uint64_t kPeriodNs = 100'000;
constexpr std::chrono::milliseconds kObserve{200};
constexpr int kMostCalls = 10'000;
constexpr std::int64_t kEnoughSamples = 50;
constexpr std::size_t kMostPlaces = 512;
// Every thread has an event for each core: beyond this only the calling thread is sampled.
constexpr int kMostCores = 64;

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
  cpu_set_t cores{};
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) <= kMostCores) {
    all_threads_ = true;
    // The system gives rings of events that threads inherit only core by core.
    for (std::size_t core = 0; core < CPU_SETSIZE && all_threads_; ++core)
      if (CPU_ISSET(core, &cores)) all_threads_ = open(static_cast<int>(core));
    if (all_threads_) return;
    close_all();
  }
  open(-1);
}

CallObserver::~CallObserver() {
  close_all();
}

bool CallObserver::open(int core) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = kPeriodNs;
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.inherit = core < 0 ? 0 : 1;  // OpenMP threads are started later
  error_ = 0;
  Ring ring{Fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, core, -1, PERF_FLAG_FD_CLOEXEC)))};
  void* mapped = MAP_FAILED;
  if (ring.fd)
    mapped = ::mmap(nullptr, kPage + kRing, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd.get(), 0);
  if (mapped == MAP_FAILED) {
    error_ = errno;
    return false;
  }
  ring.mapped = static_cast<std::byte*>(mapped);
  rings_.push_back(std::move(ring));
  return true;
}

void CallObserver::close_all() {
  for (const auto& ring : rings_) ::munmap(ring.mapped, kPage + kRing);
  rings_.clear();
}

void CallObserver::sampling(bool on) const {
  for (const auto& ring : rings_)
    ::ioctl(ring.fd.get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void CallObserver::mark(Marks& marks) const {
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    auto* const control = reinterpret_cast<perf_event_mmap_page*>(rings_[i].mapped);
    marks[i] = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
  }
}

void CallObserver::drain(const Marks& from, const Marks& to, Seen& seen) const {
  struct Sample {
    std::uint64_t address;
    std::uint32_t process, thread;
  };
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    const auto* const written = rings_[i].mapped + kPage;
    const auto copy = [&](std::uint64_t at, void* into, std::size_t bytes) {
      for (std::size_t k = 0; k < bytes; ++k)
        static_cast<std::byte*>(into)[k] = written[(at + k) % kRing];
    };
    for (auto at = from[i]; at + sizeof(perf_event_header) <= to[i];) {
      perf_event_header header{};
      copy(at, &header, sizeof header);
      if (header.size < sizeof header) break;
      if (header.type == PERF_RECORD_SAMPLE) {
        Sample sample{};
        copy(at + sizeof header, &sample, sizeof sample);
        ++seen.threads[static_cast<pid_t>(sample.thread)][sample.address];
        ++seen.samples;
      } else if (header.type == PERF_RECORD_LOST) {
        ++seen.dropped;
      }
      at += header.size;
    }
    auto* const control = reinterpret_cast<perf_event_mmap_page*>(rings_[i].mapped);
    std::atomic_ref(control->data_tail).store(to[i], std::memory_order_release);
  }
}

wire::PcSamples CallObserver::first_thread(const Seen& seen) const {
  wire::PcSamples found;
  found.period_cycles = 0;
  if (rings_.empty()) {
    found.unavailable = std::string("perf_event: the call cannot be sampled: ") +
                        std::strerror(error_) +
                        "; set `sysctl kernel.perf_event_paranoid=2` or give the server "
                        "CAP_PERFMON";
    return found;
  }
  found.dropped = seen.dropped;
  const auto own = seen.threads.find(::gettid());
  if (own == seen.threads.end()) return found;
  // Many addresses with one sample each: those of one object are still told apart from others.
  std::vector<std::pair<std::int64_t, std::uint64_t>> order;
  for (const auto& [address, count] : own->second) {
    order.emplace_back(-count, address);
    found.total += count;
  }
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

void CallObserver::add_threads(const Seen& seen, std::map<std::string, double>& metrics) const {
  if (!all_threads_) return;
  double threads = 0, sum = 0, waits = 0, busiest = 0;
  for (const auto& [thread, counts] : seen.threads) {
    double work = 0, waited = 0;
    bool in_kernel = false;
    for (const auto& [address, count] : counts) {
      const auto object = place_of(address).first;
      in_kernel = in_kernel || object == "kernel";
      (wire::is_threads_runtime(object) ? waited : work) += static_cast<double>(count);
    }
    if (!in_kernel && waited == 0) continue;  // it does not work for the kernel
    ++threads;
    sum += work;
    waits += waited;
    busiest = std::max(busiest, work);
  }
  metrics["threads"] = threads;
  // A kernel that starts new threads in every call has more of them than cores, each seen briefly.
  if (threads < 2 || threads > static_cast<double>(rings_.size()) || busiest <= 0) return;
  metrics["thread_work.pct"] = 100 * sum / threads / busiest;
  metrics["thread_waits.pct"] = 100 * waits / (sum + waits);
}

CallObserver::Observation CallObserver::observe(const Turn& turn,
                                                const std::function<void()>& prepare) {
  // The first call starts threads and touches new pages.
  prepare();
  turn.call();
  Seen seen;
  Marks begins(rings_.size()), ends(rings_.size());
  sampling(true);
  Usage sum;
  double wall_ns = 0;
  int calls = 0;
  const auto begin = steady_clock::now();
  const auto in_time = [&] {
    const bool enough = rings_.empty() || seen.samples >= kEnoughSamples;
    return steady_clock::now() < begin + (enough ? 4 : 6) * kObserve;
  };
  do {
    prepare();
    mark(begins);
    drain(begins, begins, seen);  // a long call needs all the room
    const Usage before = usage_now();
    const auto start = steady_clock::now();
    mark(begins);
    turn.call();
    mark(ends);
    wall_ns += std::chrono::duration<double, std::nano>(steady_clock::now() - start).count();
    const Usage after = usage_now();
    drain(begins, ends, seen);
    sum.cpu_ns += after.cpu_ns - before.cpu_ns;
    sum.first_ns += after.first_ns - before.first_ns;
    sum.system_ns += after.system_ns - before.system_ns;
    sum.faults += after.faults - before.faults;
    sum.switches += after.switches - before.switches;
    sum.delay_ns += after.delay_ns - before.delay_ns;
    ++calls;
  } while (calls < kMostCalls && wall_ns < 1e6 * static_cast<double>(kObserve.count()) &&
           in_time());
  sampling(false);
  Observation found;
  const double system_ns = std::min(sum.system_ns, sum.cpu_ns);
  found.metrics = {
      {"duration_time", wall_ns / calls},   {"user_time", (sum.cpu_ns - system_ns) / calls},
      {"system_time", system_ns / calls},   {"first_thread_time", sum.first_ns / calls},
      {"minor-faults", sum.faults / calls}, {"involuntary-context-switches", sum.switches / calls}};
  if (run_delay_ns()) found.metrics["run_delay"] = std::max(0.0, sum.delay_ns) / calls;
  found.samples = first_thread(seen);
  found.samples.calls = calls;
  add_threads(seen, found.metrics);
  return found;
}

}  // namespace ratchet::worker
