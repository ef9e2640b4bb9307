#pragma once

#include <cstddef>

#include "kernels/timing/statistics.h"

// When a session examines its intervals. Pure and thread-safe.

namespace ratchet {

/// Intervals are examined after 8, 13, 21, 34, 55 … rounds. Repeated looks with a chance to stop
/// inflate false positives, so the error rate is split across the looks: 18 % of it for each of the
/// first five, then half of what is left each time, so that a session may go on for as long as
/// somebody wants to wait. `rate`: of one verdict; where several share a session's, eight rounds
/// cannot decide, and the first look waits for as many as can, twelve at most.
struct Look {
  std::size_t rounds = 0;
  double share = 0;  ///< of the error rate
};
[[nodiscard]] Look look_at(std::size_t index, double rate = kErrorRate);
/// The look that a session which ends after so many rounds uses up.
[[nodiscard]] Look look_after(std::size_t rounds, double rate = kErrorRate);

/// The most rounds for a precise time of one kernel, and for a comparison that nobody waits for.
inline constexpr std::size_t kPreciseRounds = 55;
inline constexpr std::size_t kMostRounds = 144;

}  // namespace ratchet
