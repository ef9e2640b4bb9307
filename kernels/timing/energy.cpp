#include "kernels/timing/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "server/core/clock.h"
#include "server/core/figures.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr double kEnergyBlockMs = 100;  // long beside the message that asks for it
constexpr int kMostInEnergyBlock = 2000;
constexpr double kLeastBusy = 0.5;
constexpr double kEnergyBlockLimitMs = 60'000;

/// Calls one after the other.
struct EnergyBlock {
  std::int64_t calls = 0;
  double busy_ms = 0;
};

Result<EnergyBlock> energy_block(CandidateProcess& process, int samples, const CallContext& call) {
  auto taken = process.time({0, samples, CacheMode::hot, false, kEnergyBlockLimitMs}, call);
  if (!taken) return taken.error();
  if (process.fault()) return unavailable(process.fault()->text());
  const auto& times = taken->elapsed_ns;
  return EnergyBlock{static_cast<std::int64_t>(times.size()),
                     std::accumulate(times.begin(), times.end(), 0.0) / 1e6};
}

}  // namespace

Result<CallEnergy> energy_of(CandidateProcess& process, TimedArenas& arenas,
                             const EnergyReader& read, double call_ns, const CallContext& call,
                             std::chrono::milliseconds time) {
  if (auto given = arenas.give(process, call); !given) return given.error();
  const int samples = std::clamp(static_cast<int>(kEnergyBlockMs * 1e6 / std::max(call_ns, 1.0)), 1,
                                 kMostInEnergyBlock);
  // Power and clock settle.
  if (auto first = energy_block(process, samples, call); !first) return first.error();
  const auto before = read();
  if (!before) return before.error();
  const auto begin = steady_clock::now();
  EnergyBlock all;
  while (milliseconds_since(begin) < static_cast<double>(time.count())) {
    const auto one = energy_block(process, samples, call);
    if (!one) return one.error();
    all.calls += one->calls;
    all.busy_ms += one->busy_ms;
  }
  const double spent = milliseconds_since(begin);
  const auto after = read();
  if (!after) return after.error();
  const double busy = all.busy_ms / spent;
  if (busy < kLeastBusy)
    return unavailable(fmt::format(
        "calls of {} ran in only {:.0f} % of the time; the rest, in which the device waits for the "
        "host, would be counted with them",
        time_text(call_ns), 100 * busy));
  const double taken = *after - *before;
  if (taken <= 0 || all.calls == 0)
    return unavailable(
        fmt::format("the device's count of energy stood still for {:.1f} s", spent / 1000));
  return CallEnergy{taken / static_cast<double>(all.calls), taken / spent, all.calls, spent / 1000,
                    busy};
}

std::string energy_text(const CallEnergy& energy) {
  return fmt::format("{} mJ a call at {} W (over {} calls in {:.1f} s, {:.0f} % of it busy)",
                     three_digits(energy.millijoules), three_digits(energy.watts), energy.calls,
                     energy.seconds, 100 * energy.busy);
}

}  // namespace ratchet
