#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"
#include "server/facts/findings.h"

namespace ratchet {

// Turns raw samples into times and verdicts. Pure and thread-safe; spans are read only during the
// call. All times in nanoseconds.

/// Samples whose clock is below this share of the highest clock of the series are considered
/// throttled and dropped. nvbench (measure_cold) drops samples below 75 % of the default clock; the
/// highest clock seen replaces the default one, which not every device reports.
inline constexpr double kThrottleShare = 0.75;

/// With fewer pairs, no 95 % interval of a median exists: 2·0.5^5 = 6 %, 2·0.5^6 = 3 %.
inline constexpr int kMinPairs = 6;

/// How often an interval may miss the true value.
inline constexpr double kErrorRate = 0.05;

/// Lower bound of any calibrated noise.
inline constexpr double kLeastNoise = 0.005;

/// Reduces the blocks of one kernel, in launch order, to a summary.
///
/// Drops the first `discard_first` samples of the series and the throttled ones (both counted). The
/// interval is distribution-free, from the order statistics of the binomial with p = 1/2; with
/// fewer than 6 samples it is min … max and flagged `few_samples`. Quantiles are interpolated
/// linearly. Flags of the blocks are merged. `stop_reason` is `time_limit` when the last block hit
/// its limit, else `sample_limit` (the caller overrides it when it stopped at its target). Errors:
/// `unavailable` when no sample is left, or fewer than half survived the clock check (code text
/// "too noisy").
[[nodiscard]] Result<Timing> summarize(std::span<const wire::Samples> blocks, int discard_first,
                                       CacheMode cache_mode);

/// Times below this are too short for the device's clock: 20 of its finest ticks (32 ns on GPUs; on
/// the host the cost of reading the clock, about 25 ns).
[[nodiscard]] Nanoseconds shortest_time(DeviceKind kind);

/// Flags a time that is too short as `below_resolution`; true if it is.
bool flag_resolution(DeviceKind kind, Timing& timing);

/// Makes a comparison inconclusive if the time is too short.
void judge_resolution(const Timing& timing, Comparison& comparison);

/// Half of the interval's width over the median; the stopping rule uses it.
[[nodiscard]] double relative_half_width(const Timing& timing);

/// True if `relative_half_width` is at most `target` and the interval is a confidence interval.
[[nodiscard]] bool precise_enough(const Timing& timing, double target);

/// One round of an interleaved comparison (an ABBA turn or a shuffled pair): the samples of both
/// sides, taken close together in time.
struct PairedRound {
  std::vector<double> candidate_ns;
  std::vector<double> other_ns;
};

/// Above this noise floor "same" would hide real differences, so that verdict is not given.
inline constexpr double kMostNoise = 0.05;

/// Compares by rounds: the ratio of a round is middle_of(other) ÷ middle_of(candidate), the
/// speed-up the median of the ratios.
///
/// The interval is that of a sign test on the ratios (order statistics). Rounds are its units
/// because samples within one round share clock and cache state. It assumes no distribution and
/// remains valid with few rounds, where a bootstrap is too narrow. It misses with probability
/// `error_rate` at most; with too few rounds for that it is min … max and decides nothing. Verdict:
/// `faster` when ci_low > 1 + noise_floor, `slower` when ci_high < 1 ÷ (1 + noise_floor), `same`
/// when the interval lies between the two and the floor is at most `kMostNoise`, else
/// `inconclusive`. Swapping the sides gives the opposite verdict, however large the floor. Errors:
/// `invalid_argument` for no rounds, an empty side or a time that is not positive.
[[nodiscard]] Result<Comparison> compare(std::span<const PairedRound> rounds, double noise_floor,
                                         std::string against, double error_rate = kErrorRate);

/// Makes a comparison inconclusive if other processes may have caused it: they held the cores for
/// a larger share of one side's time than of the other's (0..1, `wire::Samples::held`), and without
/// that waiting the verdict would not stand. Rounds alternate, so both sides usually wait alike.
void judge_neighbors(double candidate_held, double other_held, Comparison& comparison);

/// The share over a contestant's blocks; 0 where the device does not say.
[[nodiscard]] double held_share(std::span<const wire::Samples> blocks);

/// The fewest rounds with which `compare` can decide at this error rate.
[[nodiscard]] std::size_t fewest_rounds(double error_rate);

/// One of several candidates compared with the same incumbent in one session.
struct Rival {
  std::string name;  ///< becomes Comparison::against of its result
  std::vector<PairedRound> rounds;
  double noise_floor = kLeastNoise;
};

/// `compare` for several candidates at once (Holm): the probability that any of the verdicts is
/// wrong stays at `error_rate`, however many there are. The clearest is tested at error_rate ÷ n,
/// the next at error_rate ÷ (n − 1) …; from the first inconclusive one on, all use that one's rate.
/// Results are in the order of the rivals. Errors: as `compare`.
[[nodiscard]] Result<std::vector<Comparison>> compare_all(std::span<const Rival> rivals,
                                                          double error_rate = kErrorRate);

/// The noise floor shown by rounds of a kernel against itself, as a fraction: how far the farther
/// end of their interval lies from 1, as a factor; never below `kLeastNoise`. Errors: as `compare`;
/// `unavailable` with fewer than `kMinPairs` rounds.
[[nodiscard]] Result<double> calibrate_noise(std::span<const PairedRound> rounds);

/// Mean of the values near the median of unsorted, non-empty times. As robust as a median against
/// outliers, but not quantized to the ticks of a device's clock (256 ns on virtual machines with an
/// H200, 5 % of a kernel of 5 µs): starts and ends fall anywhere within a tick, so the mean
/// resolves what lies between two ticks. ns.
[[nodiscard]] double middle_of(const std::vector<double>& values);

/// Median of unsorted, non-empty values.
[[nodiscard]] double median_of(std::vector<double> values);

/// Weighted geometric mean; 0 if a value is not positive or all weights are zero.
[[nodiscard]] double geometric_mean(std::span<const double> values,
                                    std::span<const double> weights);

}  // namespace ratchet
