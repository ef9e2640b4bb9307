#include "kernels/timing/statistics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "server/facts/workload_gain.h"

namespace ratchet {
namespace {

// Three standard deviations of a normal distribution, in median absolute deviations.
constexpr double kNear = 4.45;
// Adjacent ticks of a device's clock count as near whatever their scatter, which is zero when most
// samples fall on one tick.
constexpr double kTicksNs = 640;
constexpr double kTicksShare = 0.25;

constexpr const char* kBelowResolution = "below_resolution";
constexpr const char* kFewSamples = "few_samples";

/// Samples in launch order after the clock check, by rounds.
struct Kept {
  std::vector<std::vector<double>> rounds;
  double clock_sum = 0;
  int kept = 0;
  std::size_t clocked = 0;
  int discarded = 0;
  int throttled = 0;
  int limited = 0;                       ///< samples whose clock is below `kPowerLimitedShare`
  std::vector<std::vector<double>> all;  ///< rounds with throttled samples
};

double highest_clock(std::span<const wire::Samples> blocks) {
  double highest = 0;
  for (const auto& block : blocks)
    for (const auto clock : block.clock_mhz) highest = std::max(highest, clock);
  return highest;
}

Kept keep(std::span<const wire::Samples> blocks, int discard_first, double highest) {
  Kept kept;
  const double least_clock = kThrottleShare * highest;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const auto& block = blocks[at];
    if (at % kBlocksOfRound == 0) {
      kept.rounds.emplace_back();
      kept.all.emplace_back();
    }
    const bool clocks = block.clock_mhz.size() == block.elapsed_ns.size();
    for (std::size_t i = 0; i < block.elapsed_ns.size(); ++i) {
      if (kept.discarded - kept.throttled < discard_first) {
        ++kept.discarded;
        continue;
      }
      kept.all.back().push_back(block.elapsed_ns[i]);
      if (clocks && block.clock_mhz[i] < kPowerLimitedShare * highest) ++kept.limited;
      if (clocks && block.clock_mhz[i] < least_clock) {
        ++kept.discarded;
        ++kept.throttled;
      } else {
        ++kept.kept;
        kept.rounds.back().push_back(block.elapsed_ns[i]);
        if (clocks) kept.clock_sum += block.clock_mhz[i];
        if (clocks) ++kept.clocked;
      }
    }
  }
  return kept;
}

/// The tick of the clock that took these sorted times, ns; 0 if they show none. Times of a fine
/// clock hardly ever repeat.
double tick_of(const std::vector<double>& sorted) {
  std::size_t repeated = 0;
  double tick = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double gap = sorted[i] - sorted[i - 1];
    if (gap <= 0)
      ++repeated;
    else if (tick == 0 || gap < tick)
      tick = gap;
  }
  return 2 * repeated >= sorted.size() ? tick : 0;
}

void describe(Timing& timing, const std::vector<std::vector<double>>& rounds) {
  std::vector<double> values;
  std::vector<double> middles;
  for (const auto& round : rounds) {
    values.insert(values.end(), round.begin(), round.end());
    if (!round.empty()) middles.push_back(middle_of(round));
  }
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const auto value : values) squares += (value - mean) * (value - mean);
  std::ranges::sort(values);
  std::ranges::sort(middles);
  auto interval = median_interval(middles);
  timing.median = {sorted_quantile(middles, 0.5)};
  if (!interval.real) interval = {values.front(), values.back(), false};
  // Twice the error of a mean of times whose ends fall anywhere within a tick.
  const double tick = tick_of(values) / std::sqrt(n);
  timing.ci_low = {std::min(interval.low, timing.median.value - tick)};
  timing.ci_high = {std::max(interval.high, timing.median.value + tick)};
  timing.mean = {mean};
  timing.std = {values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0};
  timing.min = {values.front()};
  timing.max = {values.back()};
  timing.p20 = {sorted_quantile(values, 0.2)};
  timing.p80 = {sorted_quantile(values, 0.8)};
  timing.samples = static_cast<int>(values.size());
  if (!interval.real) timing.flags.emplace_back(kFewSamples);
}

// Of all samples of a side, so much is cut off each end for the trimmed mean.
constexpr double kTrimmed = 0.02;
// A gain that shrinks by more than this share, in logarithms, when means are compared, is not one.
constexpr double kMostOfGain = 0.25;
// Calls that take this much longer than the middle of their round are slow.
constexpr double kSlowCall = 1.25;

/// One side of a comparison, for means: what is left of each round after trimming all rounds.
struct TrimmedSide {
  std::vector<double> sums, counts, slow;
  double sum = 0, count = 0;

  void add(const std::vector<double>& round, double low, double high) {
    double of_round = 0;
    double left = 0;
    double slow_calls = 0;
    const double middle = middle_of(round);
    for (const auto time : round) {
      if (time > std::max(kSlowCall * middle, middle + kTicksNs)) ++slow_calls;
      if (time < low || time > high) continue;
      of_round += time;
      ++left;
    }
    sums.push_back(of_round);
    counts.push_back(left);
    slow.push_back(slow_calls / static_cast<double>(round.size()));
    sum += of_round;
    count += left;
  }
  /// Without round i.
  [[nodiscard]] double mean_without(std::size_t i) const {
    return count > counts[i] ? (sum - sums[i]) / (count - counts[i]) : sum / count;
  }
};

TrimmedSide trimmed(std::span<const PairedRound> rounds,
                    const std::vector<double> PairedRound::* side) {
  std::vector<double> all;
  for (const auto& round : rounds)
    all.insert(all.end(), (round.*side).begin(), (round.*side).end());
  std::ranges::sort(all);
  const auto cut = static_cast<std::size_t>(std::ceil(kTrimmed * static_cast<double>(all.size())));
  const bool cuts = 2 * cut < all.size();
  TrimmedSide made;
  for (const auto& round : rounds)
    made.add(round.*side, all[cuts ? cut : 0], all[all.size() - 1 - (cuts ? cut : 0)]);
  return made;
}

/// The logarithm of the ratio of trimmed means and its standard error (jackknife over rounds).
struct MeanRatio {
  double log = 0;
  double error = 0;
};

MeanRatio mean_ratio(const TrimmedSide& candidate, const TrimmedSide& other) {
  const auto n = candidate.sums.size();
  std::vector<double> left;
  for (std::size_t i = 0; i < n; ++i)
    left.push_back(std::log(other.mean_without(i) / candidate.mean_without(i)));
  const auto size = static_cast<double>(n);
  const double mean = std::accumulate(left.begin(), left.end(), 0.0) / size;
  double squares = 0;
  for (const auto one : left) squares += (one - mean) * (one - mean);
  return {std::log((other.sum / other.count) / (candidate.sum / candidate.count)),
          std::sqrt((size - 1) / size * squares)};
}

/// How many standard errors the slow calls of one side exceed those of the other. The rounds are
/// the units, because slow calls come in bursts.
double slow_errors(const TrimmedSide& a, const TrimmedSide& b) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < a.slow.size(); ++i) {
    const double more = a.slow[i] - b.slow[i];
    sum += more;
    squares += more * more;
  }
  return squares > 0 ? std::abs(sum) / std::sqrt(squares) : 0;
}

/// Takes back a verdict from medians that does not hold for all calls.
void judge_means(std::span<const PairedRound> rounds, Comparison& comparison) {
  constexpr double kErrors = 2;  // a two-sided 95 % test
  const auto candidate = trimmed(rounds, &PairedRound::candidate_ns);
  const auto other = trimmed(rounds, &PairedRound::other_ns);
  const auto means = mean_ratio(candidate, other);
  const double gain = std::log(comparison.speedup);
  const double apart = std::abs(gain - means.log) -
                       std::max(std::log1p(comparison.noise_floor), kMostOfGain * std::abs(gain));
  const bool minority = apart > 0 && slow_errors(candidate, other) > kErrors;
  const auto freedom = std::max(1, static_cast<int>(rounds.size()) - 1);
  if (minority || apart > student_t(freedom, kErrorRate / 2) * means.error) {
    comparison.speedup_mean = std::exp(means.log);
    add_flag(comparison, kBimodal);
    comparison.verdict = Verdict::inconclusive;
  } else if (comparison.verdict != Verdict::same && apart > means.error) {
    comparison.verdict = Verdict::inconclusive;  // a gain has to show in the means, too
  }
}

/// Whether the means of all rounds, with their 99 % interval, leave a verdict standing.
bool stands(std::span<const PairedRound> rounds, const Comparison& comparison) {
  constexpr double kErrors = 2.58;
  if (comparison.verdict == Verdict::inconclusive) return true;
  const auto means = mean_ratio(trimmed(rounds, &PairedRound::candidate_ns),
                                trimmed(rounds, &PairedRound::other_ns));
  const double within = kErrors * means.error;
  const double noise = std::log1p(comparison.noise_floor);
  if (comparison.verdict == Verdict::faster) return means.log - within > noise;
  if (comparison.verdict == Verdict::slower) return means.log + within < -noise;
  return std::abs(means.log) - within <= std::max(noise, std::log1p(kSameMargin));
}

Result<std::vector<double>> sorted_ratios(std::span<const PairedRound> rounds) {
  std::vector<double> ratios;
  const auto usable = [](const std::vector<double>& side) {
    return !side.empty() &&
           std::ranges::all_of(side, [](double t) { return std::isfinite(t) && t > 0; });
  };
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (!usable(rounds[i].candidate_ns) || !usable(rounds[i].other_ns))
      return invalid_argument(fmt::format(
          "round {} of the comparison has no positive time for one of the two kernels", i));
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
  const auto within = [&](double margin) {
    return comparison.ci_low >= 1 / (1 + margin) && comparison.ci_high <= 1 + margin;
  };
  const bool around_one = comparison.ci_low <= 1 && comparison.ci_high >= 1;
  const bool same = floor <= kMostNoise && (within(floor) || (around_one && within(kSameMargin)));
  return same ? Verdict::same : Verdict::inconclusive;
}

}  // namespace

Result<Timing> summarize(std::span<const wire::Samples> blocks, int discard_first,
                         CacheMode cache_mode, double device_clock_mhz) {
  const auto kept = keep(blocks, discard_first, highest_clock(blocks));
  if (kept.kept == 0 || kept.throttled > kept.kept)
    return unavailable(
        fmt::format("too noisy: {} samples kept, {} throttled", kept.kept, kept.throttled),
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
      if (!timing.has_flag(flag)) timing.flags.push_back(flag);
  if (timing.clock && timing.clock->value < kPowerLimitedShare * device_clock_mhz)
    timing.flags.emplace_back(kPowerLimited);
  describe(timing, kept.rounds);
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
  if (timing.has_flag(kBelowResolution)) comparison.verdict = Verdict::inconclusive;
}

double relative_half_width(const Timing& timing) {
  return (timing.ci_high.value - timing.ci_low.value) / 2 / timing.median.value;
}

bool precise_enough(const Timing& timing, double target) {
  return !timing.has_flag(kFewSamples) && relative_half_width(timing) <= target;
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
  judge_means(rounds, comparison);
  return comparison;
}

void judge_throttling(const PairedSeries& series, Comparison& comparison) {
  if (series.throttled > 0) add_flag(comparison, kThrottled);
  const bool lost = series.lost > series.rounds.size();
  if (!lost && (series.all.empty() || stands(series.all, comparison))) return;
  comparison.verdict = Verdict::inconclusive;
  add_flag(comparison, kThrottled);
}

PairedSeries paired(std::span<const wire::Samples> candidate, std::span<const wire::Samples> other,
                    int discard_first) {
  const double highest = std::max(highest_clock(candidate), highest_clock(other));
  auto a = keep(candidate, discard_first, highest);
  auto b = keep(other, discard_first, highest);
  PairedSeries series;
  series.throttled = a.throttled + b.throttled;
  const bool limited = a.limited + b.limited > 0;
  const auto shared = std::min(a.rounds.size(), b.rounds.size());
  for (std::size_t i = 0; i < shared; ++i)
    if (!a.rounds[i].empty() && !b.rounds[i].empty()) {
      series.rounds.push_back({std::move(a.rounds[i]), std::move(b.rounds[i])});
      series.at.push_back(i);
    }
  for (std::size_t i = 0; limited && i < shared; ++i)
    if (!a.all[i].empty() && !b.all[i].empty())
      series.all.push_back({std::move(a.all[i]), std::move(b.all[i])});
  series.lost = shared - series.rounds.size();
  return series;
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
                    rounds.size(), kLeastPairs));
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

}  // namespace ratchet
