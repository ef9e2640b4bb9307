#include "kernels/timing/statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace ratchet {
namespace {

/// 0-based index k of the order statistics [k, n-1-k] that miss the median with probability
/// `error_rate` at most: the largest k with 2·P(Bin(n, 1/2) <= k-1) <= error_rate. Empty if even
/// min … max does not.
std::optional<std::size_t> interval_index(std::size_t n, double error_rate = kErrorRate) {
  // In logarithms, because 0.5^n underflows beyond n = 1074.
  const double log_half = std::log(0.5) * static_cast<double>(n);
  double log_term = log_half;  // of P(Bin = 0)
  double below = 0;            // P(Bin <= k-1)
  std::size_t k = 0;
  while (k < n / 2) {
    below += std::exp(log_term);
    if (2 * below > error_rate) break;
    ++k;
    log_term += std::log(static_cast<double>(n - k + 1)) - std::log(static_cast<double>(k));
  }
  if (k == 0) return std::nullopt;
  return k - 1;
}

double sorted_quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

// Three standard deviations of a normal distribution, in median absolute deviations.
constexpr double kNear = 4.45;
// Adjacent ticks of a device's clock count as near whatever their scatter, which is zero when most
// samples fall on one tick.
constexpr double kTicksNs = 640;
constexpr double kTicksShare = 0.25;

constexpr const char* kBelowResolution = "below_resolution";

struct Interval {
  double low = 0;
  double high = 0;
  bool real = false;  ///< false: min … max of too few values
};

Interval median_interval(const std::vector<double>& sorted, double error_rate = kErrorRate) {
  const auto index = interval_index(sorted.size(), error_rate);
  const auto k = index.value_or(0);
  return {sorted[k], sorted[sorted.size() - 1 - k], index.has_value()};
}

/// Samples in launch order after the clock check.
struct Kept {
  std::vector<double> elapsed;
  double clock_sum = 0;
  std::size_t clocked = 0;
  int discarded = 0;
  int throttled = 0;
};

double highest_clock(std::span<const wire::Samples> blocks) {
  double highest = 0;
  for (const auto& block : blocks)
    for (const auto clock : block.clock_mhz) highest = std::max(highest, clock);
  return highest;
}

Kept keep(std::span<const wire::Samples> blocks, int discard_first) {
  Kept kept;
  const double least_clock = kThrottleShare * highest_clock(blocks);
  for (const auto& block : blocks) {
    const bool clocks = block.clock_mhz.size() == block.elapsed_ns.size();
    for (std::size_t i = 0; i < block.elapsed_ns.size(); ++i) {
      if (kept.discarded - kept.throttled < discard_first) {
        ++kept.discarded;
      } else if (clocks && block.clock_mhz[i] < least_clock) {
        ++kept.discarded;
        ++kept.throttled;
      } else {
        kept.elapsed.push_back(block.elapsed_ns[i]);
        if (clocks) kept.clock_sum += block.clock_mhz[i];
        if (clocks) ++kept.clocked;
      }
    }
  }
  return kept;
}

void describe(Timing& timing, std::vector<double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const auto value : values) squares += (value - mean) * (value - mean);
  std::ranges::sort(values);
  const auto interval = median_interval(values);
  timing.median = {sorted_quantile(values, 0.5)};
  timing.ci_low = {interval.low};
  timing.ci_high = {interval.high};
  timing.mean = {mean};
  timing.std = {values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0};
  timing.min = {values.front()};
  timing.max = {values.back()};
  timing.p20 = {sorted_quantile(values, 0.2)};
  timing.p80 = {sorted_quantile(values, 0.8)};
  timing.samples = static_cast<int>(values.size());
  if (!interval.real) timing.flags.emplace_back("few_samples");
}

Result<std::vector<double>> sorted_ratios(std::span<const PairedRound> rounds) {
  std::vector<double> ratios;
  const auto usable = [](const std::vector<double>& side) {
    return !side.empty() &&
           std::ranges::all_of(side, [](double t) { return std::isfinite(t) && t > 0; });
  };
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (!usable(rounds[i].candidate_ns) || !usable(rounds[i].other_ns))
      return invalid_argument(fmt::format("round {} lacks positive times on one side", i));
    ratios.push_back(middle_of(rounds[i].other_ns) / middle_of(rounds[i].candidate_ns));
  }
  if (ratios.empty()) return invalid_argument("a comparison needs at least one round");
  std::ranges::sort(ratios);
  return ratios;
}

/// For a comparison with a confidence interval.
Verdict verdict_of(const Comparison& comparison) {
  const double floor = comparison.noise_floor;
  const double most = 1 + floor;
  const double least = 1 / most;
  if (comparison.ci_low > most) return Verdict::faster;
  if (comparison.ci_high < least) return Verdict::slower;
  const bool inside =
      floor <= kMostNoise && comparison.ci_low >= least && comparison.ci_high <= most;
  return inside ? Verdict::same : Verdict::inconclusive;
}

}  // namespace

Result<Timing> summarize(std::span<const wire::Samples> blocks, int discard_first,
                         CacheMode cache_mode) {
  auto kept = keep(blocks, discard_first);
  if (kept.elapsed.empty() || kept.throttled > static_cast<int>(kept.elapsed.size()))
    return unavailable(fmt::format("too noisy: {} samples kept, {} throttled", kept.elapsed.size(),
                                   kept.throttled),
                       "The device is throttled or shared; measure again.");
  Timing timing;
  timing.discarded = kept.discarded;
  timing.cache_mode = cache_mode;
  if (kept.clocked > 0)
    timing.clock = Megahertz{kept.clock_sum / static_cast<double>(kept.clocked)};
  timing.conditions = blocks.back().conditions;
  timing.stop_reason = blocks.back().time_limit_hit ? "time_limit" : "sample_limit";
  for (const auto& block : blocks)
    for (const auto& flag : block.flags)
      if (std::ranges::find(timing.flags, flag) == timing.flags.end()) timing.flags.push_back(flag);
  describe(timing, std::move(kept.elapsed));
  return timing;
}

Nanoseconds shortest_time(DeviceKind kind) {
  return {kind == DeviceKind::cuda ? 640.0 : 500.0};
}

bool flag_resolution(DeviceKind kind, Timing& timing) {
  if (timing.median >= shortest_time(kind)) return false;
  timing.flags.emplace_back(kBelowResolution);
  return true;
}

void judge_resolution(const Timing& timing, Comparison& comparison) {
  if (std::ranges::find(timing.flags, kBelowResolution) != timing.flags.end())
    comparison.verdict = Verdict::inconclusive;
}

double relative_half_width(const Timing& timing) {
  return (timing.ci_high.value - timing.ci_low.value) / 2 / timing.median.value;
}

bool precise_enough(const Timing& timing, double target) {
  return interval_index(static_cast<std::size_t>(timing.samples)).has_value() &&
         relative_half_width(timing) <= target;
}

Result<Comparison> compare(std::span<const PairedRound> rounds, double noise_floor,
                           std::string against, double error_rate) {
  const auto ratios = sorted_ratios(rounds);
  if (!ratios) return ratios.error();
  const auto interval = median_interval(*ratios, error_rate);
  Comparison comparison;
  comparison.against = std::move(against);
  comparison.speedup = sorted_quantile(*ratios, 0.5);
  comparison.ci_low = interval.low;
  comparison.ci_high = interval.high;
  comparison.pairs = static_cast<int>(rounds.size());
  comparison.noise_floor = noise_floor;
  comparison.verdict = interval.real ? verdict_of(comparison) : Verdict::inconclusive;
  return comparison;
}

void judge_neighbors(double candidate_held, double other_held, Comparison& comparison) {
  // What the speedup would be without the waiting; when both sides waited alike, it is the same.
  const double corrected = (1 - other_held) / std::max(1 - candidate_held, 0.01);
  const double low = comparison.ci_low * std::min(corrected, 1.0);
  const double high = comparison.ci_high * std::max(corrected, 1.0);
  const double noise = 1 + comparison.noise_floor;
  const bool doubtful = (comparison.verdict == Verdict::faster && low <= noise) ||
                        (comparison.verdict == Verdict::slower && high >= 1 / noise);
  if (doubtful) comparison.verdict = Verdict::inconclusive;
}

double held_share(std::span<const wire::Samples> blocks) {
  double sum = 0;
  for (const auto& block : blocks) sum += block.held.value_or(0);
  return blocks.empty() ? 0 : sum / static_cast<double>(blocks.size());
}

std::size_t fewest_rounds(double error_rate) {
  std::size_t rounds = 1;
  while (!interval_index(rounds, error_rate)) ++rounds;
  return rounds;
}

Result<std::vector<Comparison>> compare_all(std::span<const Rival> rivals, double error_rate) {
  std::vector<Comparison> compared(rivals.size());
  std::vector<std::size_t> open(rivals.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  while (!open.empty()) {
    const double rate = error_rate / static_cast<double>(open.size());
    for (const auto i : open) {
      auto one = compare(rivals[i].rounds, rivals[i].noise_floor, rivals[i].name, rate);
      if (!one) return one.error();
      compared[i] = *std::move(one);
    }
    // A candidate that is clear at this rate is decided and leaves a larger rate to the others.
    const auto undecided = [&](std::size_t i) {
      return compared[i].verdict != Verdict::faster && compared[i].verdict != Verdict::slower;
    };
    const auto settled = std::ranges::find_if_not(open, undecided);
    if (settled == open.end()) break;
    open.erase(settled);
  }
  return compared;
}

Result<double> calibrate_noise(std::span<const PairedRound> rounds) {
  const auto ratios = sorted_ratios(rounds);
  if (!ratios) return ratios.error();
  const auto interval = median_interval(*ratios);
  if (!interval.real)
    return unavailable(
        fmt::format("{} rounds of samples are too few to calibrate the noise; {} are required",
                    rounds.size(), kMinPairs));
  return std::max({kLeastNoise, 1 / interval.low - 1, interval.high - 1});
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return sorted_quantile(values, 0.5);
}

double middle_of(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> away;
  for (const auto value : values) away.push_back(std::abs(value - middle));
  const double near =
      std::max(kNear * median_of(std::move(away)), std::min(kTicksShare * middle, kTicksNs));
  double sum = 0;
  double count = 0;
  for (const auto value : values) {
    if (std::abs(value - middle) > near) continue;
    sum += value;
    ++count;
  }
  return sum / count;
}

double geometric_mean(std::span<const double> values, std::span<const double> weights) {
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = i < weights.size() ? weights[i] : 1;
    if (share <= 0) continue;
    if (!(values[i] > 0)) return 0;
    sum += share * std::log(values[i]);
    weight += share;
  }
  return weight > 0 ? std::exp(sum / weight) : 0;
}

}  // namespace ratchet
