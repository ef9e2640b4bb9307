#pragma once

#include <chrono>
#include <functional>

#include "kernels/process/candidate_process.h"
#include "kernels/timing/timed_arenas.h"
#include "server/core/call_context.h"
#include "server/core/result.h"
#include "server/facts/benchmark.h"

namespace ratchet {

/// Total energy of the device so far, mJ.
using EnergyReader = std::function<Result<double>()>;

/// How long calls follow each other for a figure: a count that moves every 100 ms at worst is then
/// off by 7 %.
inline constexpr std::chrono::milliseconds kEnergyTime{1500};

/// What one call takes when one contestant's calls follow each other, nothing flushed, for that
/// time. `call_ns`: about how long one is. Between two calls the device waits for the host; where
/// that is more than half of the time, the energy would be that of waiting: `unavailable`, with
/// what was seen. Errors also: as the reader's, and `unavailable` with a fault of the process.
/// Thread rule: as WorkerProcess.
[[nodiscard]] Result<CallEnergy> energy_of(CandidateProcess& process, TimedArenas& arenas,
                                           const EnergyReader& read, double call_ns,
                                           const CallContext& call,
                                           std::chrono::milliseconds time = kEnergyTime);

/// "310 mJ a call at 420 W (over 4,800 calls in 1.5 s, 93 % of it busy)".
[[nodiscard]] std::string energy_text(const CallEnergy& energy);

}  // namespace ratchet
