#pragma once

#include <cstddef>
#include <random>
#include <string>

#include "bench/statistics/models.h"
#include "kernels/timing/statistics.h"
#include "kernels/timing/timing_session.h"

namespace ratchet::bench {

/// What all simulations draw from; seeded for each table.
[[nodiscard]] std::mt19937_64& dice();
[[nodiscard]] double normal();
[[nodiscard]] bool chance(double share);
[[nodiscard]] std::string percent(double share);

/// A kernel in a new process, with a place in memory of its own: `times` as long as the model says,
/// and by `between` (a standard deviation) more or less.
[[nodiscard]] Kernel started(TimeModel model, double times, double between = 0.001);

/// Two kernels in one session: their models, the scatter between processes, the floor.
struct Match {
  TimeModel candidate, other;
  double between_processes = 0.001;
  double floor = kLeastNoise;
  std::size_t most_rounds = kMostRounds;
};

[[nodiscard]] Match even(TimeModel model, double between = 0.001, double floor = kLeastNoise);
[[nodiscard]] Match faster_by(Match match, double share);

struct Ended {
  Verdict verdict = Verdict::inconclusive;
  std::size_t rounds = 0;
  Comparison comparison;  ///< of the last look; not by the former rule
};

/// Draws rounds until the rule decides.
[[nodiscard]] Ended play(const Match& match, bool former);

}  // namespace ratchet::bench
