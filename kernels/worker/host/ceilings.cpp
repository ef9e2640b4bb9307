#include "kernels/worker/host/ceilings.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <thread>

#include "kernels/worker/host/ceiling_loops.h"
#include "kernels/worker/host/host_info.h"

namespace ratchet::worker {
namespace {

using std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr std::int64_t kLeastArray = std::int64_t{64} << 20;
constexpr std::int64_t kMostArray = std::int64_t{1} << 30;  // more would only take longer

/// One thread's share of a round; returns the bytes moved or operations done.
using Share = std::function<double(int thread)>;

/// Best rate of several rounds: all threads start together, the slowest ends the round. The first
/// round is a warm-up and does not count.
double best_rate(int threads, const Share& share) {
  double best = 0;
  for (int round = 0; round <= kRounds; ++round) {
    std::barrier<> start(threads + 1);
    std::atomic<double> total = 0;
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < threads; ++thread)
      workers.emplace_back([&, thread] {
        start.arrive_and_wait();
        total += share(thread);
      });
    start.arrive_and_wait();
    const auto begin = steady_clock::now();
    workers.clear();  // joins
    const std::chrono::duration<double> elapsed = steady_clock::now() - begin;
    if (round > 0) best = std::max(best, total.load() / elapsed.count());
  }
  return best;
}

/// Thread `index`'s part of an array.
std::span<double> part_of(std::vector<double>& array, int index, int threads) {
  const std::size_t each = array.size() / static_cast<std::size_t>(threads);
  return std::span(array).subspan(each * static_cast<std::size_t>(index), each);
}

double bytes_of(std::span<const double> part) {
  return static_cast<double>(part.size_bytes());
}

void keep(double value) {
  asm volatile("" : : "g"(value) : "memory");
}

double arithmetic(int threads, double (*loop)(std::int64_t, double&)) {
  constexpr std::int64_t kLoopRounds = 10'000'000;  // some 20 ms at 4 GHz
  return best_rate(threads, [&](int) {
    double sink = 0;
    const double done = loop(kLoopRounds, sink);
    keep(sink);
    return done;
  });
}

std::vector<wire::CeilingValue> measure(int threads, std::int64_t cache) {
  const std::int64_t bytes = std::clamp(4 * cache, kLeastArray, kMostArray);
  std::vector<double> from(static_cast<std::size_t>(bytes) / sizeof(double), 1.0);
  std::vector<double> to(from.size(), 0.0);
  const auto copy = best_rate(threads, [&](int thread) {
    const auto source = part_of(from, thread, threads);
    std::memcpy(part_of(to, thread, threads).data(), source.data(), source.size_bytes());
    return 2 * bytes_of(source);
  });
  const auto read = best_rate(threads, [&](int thread) {
    const auto part = part_of(from, thread, threads);
    keep(read_all(part));
    return bytes_of(part);
  });
  const auto write = best_rate(threads, [&](int thread) {
    const auto part = part_of(to, thread, threads);
    std::memset(part.data(), thread, part.size_bytes());
    keep(part.front());
    return bytes_of(part);
  });
  from.resize(static_cast<std::size_t>(std::max<std::int64_t>(cache, 1 << 20) / 4) /
              sizeof(double));
  const auto cached = best_rate(threads, [&](int thread) {
    const auto part = part_of(from, thread, threads);
    constexpr int kPasses = 64;
    for (int pass = 0; pass < kPasses; ++pass) keep(read_all(part));
    return kPasses * bytes_of(part);
  });
  return {{"copy_bandwidth", copy, "B/s"},
          {"read_bandwidth", read, "B/s"},
          {"write_bandwidth", write, "B/s"},
          {"l2_bandwidth", cached, "B/s"},
          {"fp32", arithmetic(threads, multiply_add_f32), "FLOP/s"},
          {"fp64", arithmetic(threads, multiply_add_f64), "FLOP/s"}};
}

}  // namespace

Result<std::vector<wire::CeilingValue>> measure_host_ceilings() {
  try {
    return measure(usable_cores(), last_level_cache_bytes());
  } catch (const std::bad_alloc&) {
    return unavailable("not enough memory to measure the ceilings");
  }
}

}  // namespace ratchet::worker
