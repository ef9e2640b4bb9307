#include "kernels/worker/host/core.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace ratchet::worker {
namespace {

/// Whether a library is loaded that starts threads on its own.
bool has_thread_runtime() {
  const auto look = [](dl_phdr_info* info, std::size_t, void* found) {
    const std::string_view name = info->dlpi_name ? info->dlpi_name : "";
    for (const char* runtime : {"libgomp", "libomp", "libiomp", "libtbb", "libopenblas"})
      if (name.find(runtime) != std::string_view::npos) *static_cast<bool*>(found) = true;
    return 0;
  };
  bool found = false;
  ::dl_iterate_phdr(look, &found);
  return found;
}

bool has_threads() {
  std::error_code failed;
  std::filesystem::directory_iterator tasks("/proc/self/task", failed);
  return !failed && std::distance(begin(tasks), end(tasks)) > 1;
}

int numa_nodes() {
  int nodes = 0;
  std::error_code failed;
  for (int node = 0; node < 1024; ++node)
    if (std::filesystem::exists(fmt::format("/sys/devices/system/node/node{}", node), failed))
      ++nodes;
    else
      break;
  return nodes;
}

}  // namespace

CorePin::CorePin() {
  CPU_ZERO(&before_);
  if (has_thread_runtime() || has_threads()) return;
  const int core = ::sched_getcpu();
  if (core < 0 || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  if (::sched_setaffinity(0, sizeof one, &one) == 0) core_ = core;
}

CorePin::~CorePin() {
  if (core_) ::sched_setaffinity(0, sizeof before_, &before_);
}

std::optional<double> core_megahertz() {
#if defined(__x86_64__)
  constexpr int kSteps = 2'000;
  constexpr int kUnrolled = 8;
  constexpr double kCycles = 3.0 * kSteps * kUnrolled;
  double best_ns = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::uint64_t value = 3;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kSteps; ++i)
      asm volatile(
          "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
          "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
          : "+r"(value));
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    // The faster attempt counts; the other may have been interrupted.
    best_ns = attempt == 0 ? spent.count() : std::min(best_ns, spent.count());
  }
  return 1e3 * kCycles / best_ns;
#else
  return std::nullopt;
#endif
}

std::optional<double> run_delay_ns() {
  std::error_code failed;
  double sum = 0;
  bool known = false;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", failed)) {
    // Time on a core, time waiting for one, time slices.
    std::ifstream file(thread.path() / "schedstat");
    double ran = 0, waited = 0;
    if (!(file >> ran >> waited)) continue;
    sum += waited;
    known = true;
  }
  return known ? std::optional(sum) : std::nullopt;
}

std::string described(const CorePin& pin) {
  const auto place = pin.core() ? fmt::format("pinned to core {}", *pin.core())
                                : std::string("not pinned, because it may use threads");
  return fmt::format("clock: steady_clock; {}; NUMA nodes: {}", place, numa_nodes());
}

}  // namespace ratchet::worker
