#include "kernels/measure/device/sm_clock.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ratchet::measure {
namespace {

struct Stamp {
  std::uint64_t time_ns;
  std::uint64_t cycles;
};

constexpr std::size_t kMostMultiprocessors = 1024;  // far above any chip
// A clock outside this range means a counter that was reset or does not tick.
constexpr double kLowestMegahertz = 50;
constexpr double kHighestMegahertz = 10000;

std::optional<double> megahertz(const Stamp& earlier, const Stamp& later) {
  if (!earlier.time_ns || later.time_ns <= earlier.time_ns || later.cycles <= earlier.cycles)
    return std::nullopt;
  const double value = 1e3 * static_cast<double>(later.cycles - earlier.cycles) /
                       static_cast<double>(later.time_ns - earlier.time_ns);
  if (value < kLowestMegahertz || value > kHighestMegahertz) return std::nullopt;
  return value;
}

}  // namespace

Result<SmClock> SmClock::create() {
  auto earlier = PinnedMemory::allocate(kMostMultiprocessors * sizeof(Stamp));
  if (!earlier) return earlier.error();
  auto later = PinnedMemory::allocate(kMostMultiprocessors * sizeof(Stamp));
  if (!later) return later.error();
  return SmClock(*std::move(earlier), *std::move(later));
}

Status SmClock::take(Gpu& gpu, PinnedMemory& stamps) {
  std::memset(stamps.data(), 0, stamps.bytes());
  if (auto launched = gpu.stamp(stamps.data()); !launched) return launched.error();
  if (const auto error = cudaStreamSynchronize(nullptr); error != cudaSuccess)
    return cuda_error("cannot read the clocks", error);
  return {};
}

Status SmClock::start(Gpu& gpu) {
  return take(gpu, swapped_ ? later_ : earlier_);
}

Result<std::optional<double>> SmClock::turn(Gpu& gpu) {
  auto& before = swapped_ ? later_ : earlier_;
  auto& after = swapped_ ? earlier_ : later_;
  if (auto taken = take(gpu, after); !taken) return taken.error();
  swapped_ = !swapped_;
  const auto* first = static_cast<const Stamp*>(before.data());
  const auto* second = static_cast<const Stamp*>(after.data());
  std::vector<double> clocks;
  for (std::size_t i = 0; i < kMostMultiprocessors; ++i)
    if (const auto clock = megahertz(first[i], second[i])) clocks.push_back(*clock);
  if (clocks.empty()) return std::optional<double>{};
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return std::optional<double>{*middle};
}

}  // namespace ratchet::measure
