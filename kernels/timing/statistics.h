#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "server/core/result.h"
#include "server/facts/findings.h"

namespace ratchet {

// From raw samples to times and verdicts. Pure and thread-safe; spans are read during the call
// only. All times in nanoseconds.

/// Samples whose clock is below this share of the highest clock of the series were throttled and
/// are thrown away. nvbench (measure_cold) drops samples below 75 % of the default clock; the
/// highest clock seen stands in for the default one, which not every device tells.
inline constexpr double kThrottleShare = 0.75;

/// With fewer pairs no 95 % interval of a median exists: 2·0.5^5 = 6 %, 2·0.5^6 = 3 %.
inline constexpr int kMinPairs = 6;

/// How often an interval may miss the true value.
inline constexpr double kErrorRate = 0.05;

/// Floor below which no calibration goes.
inline constexpr double kLeastNoise = 0.005;

/// Reduces the blocks of one kernel, in launch order, to a summary.
///
/// Drops the first `discard_first` samples of the series and the throttled ones (both counted).
/// Interval: distribution-free, from the order statistics of the binomial with p = 1/2; with fewer
/// than 6 samples it is min … max and the flag `few_samples` says so. Quantiles are linear between
/// neighbours. Flags of the blocks are united; `stop_reason` is `time_limit` when the last block
/// hit its limit, else `sample_limit` (the caller knows better when it stopped at the target).
/// Errors: `unavailable` when nothing is left, or less than half survived the clock check (code
/// text "too noisy").
[[nodiscard]] Result<Timing> summarise(std::span<const wire::Samples> blocks, int discard_first,
                                       CacheMode cache_mode);

/// Times below this are too short for the device's clock: 20 of its finest ticks (32 ns on GPUs; on
/// the host what reading the clock costs, about 25 ns).
[[nodiscard]] Nanoseconds shortest_time(DeviceKind kind);

/// Flags a time that is too short as `below_resolution`; true when it is.
bool flag_resolution(DeviceKind kind, Timing& timing);

/// A comparison with a time that is too short says nothing.
void judge_resolution(const Timing& timing, Comparison& comparison);

/// Half of the interval's width over the median: what the stopping rule looks at.
[[nodiscard]] double relative_half_width(const Timing& timing);

/// True when `relative_half_width` is at most `target` and the interval is a real one.
[[nodiscard]] bool precise_enough(const Timing& timing, double target);

/// One round of an interleaved comparison (an ABBA turn or a shuffled pair): the samples of both
/// sides taken close together in time.
struct PairedRound {
  std::vector<double> candidate_ns;
  std::vector<double> other_ns;
};

/// Above this noise floor "the same" would cover real differences, and no verdict says it.
inline constexpr double kMostNoise = 0.05;

/// Compares by rounds: the ratio of a round is middle_of(other) ÷ middle_of(candidate), the
/// speed-up the median of the ratios.
///
/// Interval: that of a sign test on the ratios (order statistics), with rounds as units because
/// samples inside one round share its clock and cache state; it assumes no distribution and stays
/// honest with few rounds, where a bootstrap is too narrow. It misses with probability
/// `error_rate` at most; with too few rounds for that it is min … max and decides nothing.
/// Verdict: `faster` when ci_low > 1 + noise_floor, `slower` when ci_high < 1 ÷ (1 + noise_floor),
/// `same` when the interval lies between the two and the floor is at most `kMostNoise`, else
/// `inconclusive`. Who swaps the sides gets the opposite verdict, however large the floor.
/// Errors: `invalid_argument` for no rounds, an empty side or a time that is not positive.
[[nodiscard]] Result<Comparison> compare(std::span<const PairedRound> rounds, double noise_floor,
                                         std::string against, double error_rate = kErrorRate);

/// The fewest rounds with which `compare` can decide anything at this error rate.
[[nodiscard]] std::size_t fewest_rounds(double error_rate);

/// One of several candidates that are compared with the same incumbent in one session.
struct Rival {
  std::string name;  ///< goes to Comparison::against of its result
  std::vector<PairedRound> rounds;
  double noise_floor = kLeastNoise;
};

/// `compare` for several candidates at once (Holm): the chance that any verdict among them is wrong
/// stays at `error_rate`, however many there are. The clearest is held to error_rate ÷ n, the next
/// to error_rate ÷ (n − 1) …, and from the first that is not clear on all to that one's rate.
/// Results in the order of the rivals. Errors: as `compare`.
[[nodiscard]] Result<std::vector<Comparison>> compare_all(std::span<const Rival> rivals,
                                                          double error_rate = kErrorRate);

/// The noise floor that rounds of a kernel against itself show, as a fraction: how far from 1 the
/// farther end of their interval lies, as a factor, and never below `kLeastNoise`.
/// Errors: as `compare`; `unavailable` with fewer than `kMinPairs` rounds.
[[nodiscard]] Result<double> calibrate_noise(std::span<const PairedRound> rounds);

/// Mean of those of unsorted, non-empty times that lie near their median: as sturdy as a median
/// against stray samples, but not bound to the steps in which a device's clock ticks (256 ns on
/// virtual machines with an H200, 5 % of a kernel of 5 µs): start and end fall anywhere within a
/// step, so that the mean tells what lies between two of them. ns.
[[nodiscard]] double middle_of(const std::vector<double>& values);

/// Median of unsorted, non-empty values.
[[nodiscard]] double median_of(std::vector<double> values);

/// Weighted geometric mean; 0 when a value is not positive or no weight is.
[[nodiscard]] double geometric_mean(std::span<const double> values,
                                    std::span<const double> weights);

}  // namespace ratchet
