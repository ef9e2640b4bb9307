#pragma once

#include <random>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/timing/statistics.h"

namespace ratchet::bench {

/// How the times of one kernel scatter. Fractions are of the true time.
struct TimeModel {
  std::string name;
  double time_ns = 57'000;
  double scatter = 0.005;   ///< of one call
  double correlation = 0;   ///< share of the variance that the calls of a round have in common
  double tick_ns = 0;       ///< of the device's clock
  double burst_rounds = 0;  ///< share of rounds in which the machine is busy …
  double burst_slower = 0;  ///< … and everything this much slower
  double drift = 0;         ///< over the session
  double outliers = 0;      ///< share of calls that the machine interrupts …
  double outlier_ns = 0;    ///< … for so long
  double slow_share = 0;    ///< of calls in which the kernel itself is slow …
  double slow_factor = 1;   ///< … by this factor
  double throttled = 0;     ///< share of blocks in which this kernel has a lower clock …
  double throttled_at = 1;  ///< … this share of the highest; in busy rounds for all kernels
  std::size_t calls_of_block = 12;
};

/// Draws the two blocks of one round.
class Kernel {
 public:
  Kernel(TimeModel model, std::mt19937_64& random) : model_(std::move(model)), random_(random) {}

  /// `busy`: drawn once for a round, whoever runs in it. `progress`: 0..1 through the session.
  std::vector<wire::Samples> round(bool busy, double progress);

 private:
  double call(double shared);

  TimeModel model_;
  std::mt19937_64& random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace ratchet::bench
