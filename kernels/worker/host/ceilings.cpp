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
#include <string_view>
#include <thread>
#include <utility>

#include "kernels/worker/host/ceiling_loops.h"
#include "kernels/worker/host/host_info.h"

namespace ratchet::worker {
namespace {

using std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr std::int64_t kLeastArray = std::int64_t{64} << 20;
constexpr std::int64_t kNearBytes = std::int64_t{16} << 10;
constexpr double kRepeatedBytes = 512e6;  // read by one thread in a round: some 10 ms
constexpr std::int64_t kMostArray = std::int64_t{1} << 30;  // more would only take longer

/// One thread's share of a round; returns the bytes moved or operations done.
using Share = std::function<double(int thread)>;

/// Best rate of several rounds: all threads start together, the slowest ends the round. The first
/// round is a warm-up and does not count. The threads read the clock themselves: under load this
/// one may go on long after they have started.
double best_rate(int threads, const Share& share) {
  double best = 0;
  for (int round = 0; round <= kRounds; ++round) {
    std::barrier<> start(threads);
    std::atomic<double> total = 0;
    std::vector<steady_clock::time_point> begins(static_cast<std::size_t>(threads)), ends(begins);
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < threads; ++thread)
      workers.emplace_back([&, thread] {
        const auto at = static_cast<std::size_t>(thread);
        start.arrive_and_wait();
        begins[at] = steady_clock::now();
        total += share(thread);
        ends[at] = steady_clock::now();
      });
    workers.clear();  // joins
    const std::chrono::duration<double> elapsed =
        *std::ranges::max_element(ends) - *std::ranges::min_element(begins);
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

/// Repeated reads of `bytes` by each thread.
double repeated_reads(int threads, std::vector<double>& from, std::int64_t bytes) {
  const auto words = static_cast<std::size_t>(bytes) / sizeof(double);
  return best_rate(threads, [&](int thread) {
    const auto part = part_of(from, thread, threads).first(words);
    const int passes = static_cast<int>(kRepeatedBytes / static_cast<double>(bytes));
    for (int pass = 0; pass < passes; ++pass) keep(read_all(part));
    return passes * bytes_of(part);
  });
}

double copy_rate(int threads, std::vector<double>& from, std::vector<double>& to) {
  return best_rate(threads, [&](int thread) {
    const auto source = part_of(from, thread, threads);
    std::memcpy(part_of(to, thread, threads).data(), source.data(), source.size_bytes());
    return 2 * bytes_of(source);
  });
}

std::vector<wire::CeilingValue> measure(int threads, std::int64_t cache) {
  const std::int64_t bytes = std::clamp(4 * cache, kLeastArray, kMostArray);
  std::vector<double> from(static_cast<std::size_t>(bytes) / sizeof(double), 1.0);
  std::vector<double> to(from.size(), 0.0);
  const auto copy = copy_rate(threads, from, to);
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
  // A quarter of the cache in total, and half of what the smallest first-level caches hold.
  const auto shared = std::max<std::int64_t>(cache, 1 << 20) / 4 / threads;
  const auto last = repeated_reads(threads, from, shared);
  const auto first = repeated_reads(threads, from, kNearBytes);
  return plausible_ceilings({{"copy_bandwidth", copy, "B/s"},
                             {"core_copy_bandwidth", copy_rate(1, from, to), "B/s"},
                             {"read_bandwidth", read, "B/s"},
                             {"write_bandwidth", write, "B/s"},
                             {"l2_bandwidth", last, "B/s"},
                             {"l1_bandwidth", first, "B/s"},
                             {"fp32", arithmetic(threads, multiply_add_f32), "FLOP/s"},
                             {"fp64", arithmetic(threads, multiply_add_f64), "FLOP/s"}});
}

}  // namespace

std::vector<wire::CeilingValue> plausible_ceilings(std::vector<wire::CeilingValue> values) {
  const auto rate = [&](std::string_view what) {
    const auto found = std::ranges::find(values, what, &wire::CeilingValue::what);
    return found == values.end() ? 0.0 : found->value;
  };
  const auto drop = [&](std::string_view what) {
    std::erase_if(values, [&](const wire::CeilingValue& one) { return one.what == what; });
  };
  // Noise may make nearly equal rates change places.
  constexpr double kSlack = 0.95;
  const double read = rate("read_bandwidth"), copy = rate("copy_bandwidth");
  const double first = rate("l1_bandwidth"), last = rate("l2_bandwidth");
  if (read < kSlack * copy) drop("read_bandwidth");
  if (rate("core_copy_bandwidth") > copy / kSlack) drop("core_copy_bandwidth");
  if (last < kSlack * read || last > first / kSlack) drop("l2_bandwidth");
  if (first < kSlack * std::max(last, read)) drop("l1_bandwidth");
  return values;
}

Result<std::vector<wire::CeilingValue>> measure_host_ceilings() {
  try {
    const int cores = usable_cores();
    auto values = measure(cores, last_level_cache_bytes());
    // Neighbors that came and went make the levels inconsistent: once more, then without them.
    constexpr std::size_t kAll = 8;
    if (values.size() < kAll) values = measure(cores, last_level_cache_bytes());
    return values;
  } catch (const std::bad_alloc&) {
    return unavailable("not enough memory to measure the ceilings");
  }
}

}  // namespace ratchet::worker
