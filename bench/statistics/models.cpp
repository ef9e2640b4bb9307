#include "bench/statistics/models.h"

#include <cmath>

namespace ratchet::bench {

double Kernel::call(double shared) {
  const double own = std::sqrt(1 - model_.correlation) * normal_(random_);
  double time = model_.time_ns * (1 + model_.scatter * (shared + own));
  if (uniform_(random_) < model_.slow_share) time *= model_.slow_factor;
  if (uniform_(random_) < model_.outliers) time += model_.outlier_ns * (0.5 + uniform_(random_));
  if (model_.tick_ns <= 0) return time;
  // Start and end fall anywhere within a tick.
  const double begin = model_.tick_ns * uniform_(random_);
  return std::max(model_.tick_ns, model_.tick_ns * std::floor((begin + time) / model_.tick_ns));
}

std::vector<wire::Samples> Kernel::round(bool busy, double progress) {
  const double shared = std::sqrt(model_.correlation) * normal_(random_);
  const double all = (1 + model_.drift * (progress - 0.5)) * (busy ? 1 + model_.burst_slower : 1);
  std::vector<wire::Samples> blocks(kBlocksOfRound);
  for (auto& block : blocks) {
    const bool limited = model_.throttled_at < 1 && (busy || uniform_(random_) < model_.throttled);
    const double clock = limited ? model_.throttled_at : 1;
    for (std::size_t i = 0; i < model_.calls_of_block; ++i)
      block.elapsed_ns.push_back(all * call(shared) / clock);
    if (model_.throttled_at < 1) block.clock_mhz.assign(model_.calls_of_block, 1980 * clock);
  }
  return blocks;
}

}  // namespace ratchet::bench
