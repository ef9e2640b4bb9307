#include "kernels/diagnosis/intervention_plan.h"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>

#include "kernels/contract/layout.h"
#include "kernels/contract/where.h"
#include "kernels/diagnosis/diagnosis_metrics.h"

namespace ratchet {
namespace {

constexpr std::size_t kSizes = 3;

/// A size and how it came about.
struct Halved {
  Dims dims;
  std::int64_t bytes = 0;
  int halvings = 0;
  int of_one = 0;  ///< the most of one dim
};

/// Calls `visit` for all ways to halve the dims `names` from `first` on `left` times in all.
void each_way(const std::vector<std::string>& names, std::size_t first, int left, Halved size,
              const std::function<void(const Halved&)>& visit) {
  if (left == 0) return visit(size);
  if (first == names.size()) return;
  const auto value = size.dims[names[first]];
  const int so_far = size.halvings;
  for (int times = 0; times <= left && (value >> times) >= 1; ++times) {
    size.dims[names[first]] = value >> times;
    size.halvings = so_far + times;
    Halved next = size;
    next.of_one = std::max(size.of_one, times);
    each_way(names, first + 1, left - times, std::move(next), visit);
  }
}

}  // namespace

std::vector<Dims> sizes_that_fit(const Contract& contract, const Dims& dims,
                                 std::int64_t most_bytes) {
  constexpr int kMostHalvings = 10;  // four dims: a thousand sizes, in milliseconds
  const auto bytes_of = [&](const Dims& size) {
    const auto layout = layout_of(contract, size);
    return layout ? std::optional(layout->bytes) : std::nullopt;
  };
  if (bytes_of(dims).value_or(0) <= most_bytes) return {};
  std::vector<std::string> names;
  for (const auto& [name, value] : dims)
    if (value >= 2 && names.size() < kMostDims) names.push_back(name);
  std::vector<Halved> found;
  for (int halvings = 1; halvings <= kMostHalvings; ++halvings)
    each_way(names, 0, halvings, {.dims = dims}, [&](Halved size) {
      if (!keeps_relations(contract, size.dims)) return;
      const auto bytes = bytes_of(size.dims);
      if (!bytes || *bytes > most_bytes) return;
      size.bytes = *bytes;
      found.push_back(std::move(size));
    });
  std::ranges::stable_sort(found, {}, [](const Halved& size) {
    return std::tuple(-size.bytes, size.halvings, size.of_one);
  });
  std::vector<Dims> sizes;
  for (auto& size : found)
    if (sizes.size() < kSizes) sizes.push_back(std::move(size.dims));
  return sizes;
}

bool far_above_launch(double time_ns, int launches) {
  // An empty kernel takes 4.4 us of a call on cold caches (H200).
  constexpr double kLaunch = 4400;
  constexpr double kFar = 5;
  return launches > 0 && time_ns >= kFar * kLaunch * launches;
}

std::optional<double> resident_blocks(const KernelCounters& kernel, int multiprocessors) {
  const Metrics metrics(kernel.metrics);
  const auto grid = metrics[metric::kGrid];
  const auto waves = metrics[metric::kWaves];
  if (!grid || !waves || *waves <= 0 || multiprocessors <= 0) return std::nullopt;
  return *grid / (*waves * multiprocessors);
}

bool has_blocks_to_spare(const KernelCounters& kernel, int multiprocessors) {
  constexpr double kNearlyAll = 0.75;
  const Metrics metrics(kernel.metrics);
  const auto resident = resident_blocks(kernel, multiprocessors);
  const auto achieved = metrics[metric::kOccupancy];
  const auto theoretical = metrics[metric::kTheoretical];
  return resident && achieved && theoretical && *resident > 1.5 &&
         metrics[metric::kWaves].value_or(0) >= 2 && *achieved >= kNearlyAll * *theoretical;
}

std::optional<int> register_cap(const KernelCounters& kernel) {
  // Of compute capability 7.0 and later: each of four schedulers has a quarter of the registers and
  // gives them to warps in units of 256.
  constexpr int kOfScheduler = 16'384;
  constexpr int kSchedulers = 4;
  constexpr int kUnit = 256;
  constexpr int kLanes = 32;
  constexpr int kStep = 8;
  constexpr int kLeast = 24;
  const Metrics metrics(kernel.metrics);
  const auto registers = metrics["launch__registers_per_thread"];
  const auto threads = metrics["launch__block_size"];
  const auto limit = metrics["launch__occupancy_limit_registers"];
  if (!registers || !threads || !limit || *threads < 1 || *limit < 1) return std::nullopt;
  for (const auto* other : {"blocks", "shared_mem", "warps"})
    if (metrics["launch__occupancy_limit_" + std::string(other)].value_or(*limit + 1) <= *limit)
      return std::nullopt;
  const int warps = (static_cast<int>(*threads) + kLanes - 1) / kLanes;
  const auto fit = [&](int each) {
    const int of_warp = (each * kLanes + kUnit - 1) / kUnit * kUnit;
    return kOfScheduler / of_warp * kSchedulers / warps;
  };
  for (int cap = (static_cast<int>(*registers) - 1) / kStep * kStep; cap >= kLeast; cap -= kStep)
    if (fit(cap) > static_cast<int>(*limit)) return cap;
  return std::nullopt;
}

bool halves_blocks_alone(const KernelCounters& kernel, const KernelCounters& half,
                         double bytes_left) {
  const auto all = Metrics(kernel.metrics)[metric::kGrid];
  const auto left = Metrics(half.metrics)[metric::kGrid];
  if (!all || !left || *all <= 0) return false;
  const double share = *left / *all;
  return share >= 0.45 && share <= 0.55 && bytes_left >= 0.45;
}

}  // namespace ratchet
