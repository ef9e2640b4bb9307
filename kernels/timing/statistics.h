#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/protocol/messages.h"
#include "kernels/timing/comparison.h"
#include "server/core/result.h"
#include "server/facts/findings.h"
#include "server/facts/order_statistics.h"

namespace ratchet {

// Turns raw samples into times and verdicts. Pure and thread-safe; spans are read only during the
// call. All times in nanoseconds.

/// Samples whose clock is below this share of the highest clock of the series are considered
/// throttled and dropped. nvbench (measure_cold) drops samples below 75 % of the default clock; the
/// highest clock seen replaces the default one, which not every device reports.
inline constexpr double kThrottleShare = 0.75;

/// Lower bound of any calibrated noise.
inline constexpr double kLeastNoise = 0.005;

/// Reduces the blocks of one kernel, in launch order, `kBlocksOfRound` to a round, to a summary.
///
/// Drops the first `discard_first` samples of the series and the throttled ones (both counted). The
/// median is that of the rounds' `middle_of`, and its interval that of their order statistics,
/// interpolated (Hettmansperger and Sheather): samples of one round share clock and cache state, so
/// they are not independent and the rounds are the units. Where the samples show a clock's tick, it
/// reaches at least a tick over the root of their number to both sides. With fewer than 6 rounds it
/// is min … max of the samples and flagged `few_samples`. Quantiles are interpolated linearly.
/// Flags of the blocks are merged; `power_limited` is added where the mean clock is below
/// `kPowerLimitedShare` of `device_clock_mhz`, the device's highest clock (0: unknown).
/// `stop_reason` is `time_limit` when the last block hit its limit, else `sample_limit` (the caller
/// overrides it when it stopped at its target). Errors: `unavailable` when no sample is left, or
/// fewer than half survived the clock check (code text "too noisy").
[[nodiscard]] Result<Timing> summarize(std::span<const wire::Samples> blocks, int discard_first,
                                       CacheMode cache_mode, double device_clock_mhz = 0);

/// A session gives each contestant two blocks in a round, in ABBA order.
inline constexpr std::size_t kBlocksOfRound = 2;

/// A mean clock below this share of the device's highest means that power or temperature limit it.
/// Both sides of a comparison are limited alike, so its samples count.
inline constexpr double kPowerLimitedShare = 0.9;
inline constexpr const char* kPowerLimited = "power_limited";

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

/// The rounds of two series of blocks taken in turns, without the first `discard_first` samples of
/// each series and without throttled samples: those whose clock is below `kThrottleShare` of the
/// highest clock of both series.
struct PairedSeries {
  std::vector<PairedRound> rounds;  ///< those with samples left on both sides
  std::vector<std::size_t> at;      ///< which of the session's rounds they are
  std::size_t lost = 0;             ///< rounds without
  int throttled = 0;                ///< samples dropped for their clock
  std::vector<PairedRound> all;     ///< with those; empty if no clock was limited
};
[[nodiscard]] PairedSeries paired(std::span<const wire::Samples> candidate,
                                  std::span<const wire::Samples> other, int discard_first);

/// Flags what throttling took (`kThrottled`), and leaves open what lost half of its rounds to it,
/// or would not stand by the means of all samples, those of a lower clock included: a kernel that
/// draws so much power that the device limits it is not as fast as in the samples that are left.
/// Where both sides are limited alike, means say what medians do.
void judge_throttling(const PairedSeries& series, Comparison& comparison);

/// Above this noise floor "same" would hide real differences, so that verdict is not given.
inline constexpr double kMostNoise = 0.05;

/// Two kernels that surely differ by less, and may not differ at all, are `same`.
inline constexpr double kSameMargin = 0.01;

/// Compares by rounds: the ratio of a round is middle_of(other) ÷ middle_of(candidate), the
/// speed-up the median of the ratios.
///
/// The interval is that of a sign test on the ratios (order statistics, interpolated). Rounds are
/// its units because samples within one round share clock and cache state. It assumes no
/// distribution and remains valid with few rounds, where a bootstrap is too narrow. It misses with
/// probability `error_rate` at most; with too few rounds for that it is min … max and decides
/// nothing. Verdict: `faster` when ci_low > 1 + noise_floor, `slower` when ci_high < 1 ÷ (1 +
/// noise_floor), `same` when the interval lies within the floor, or contains 1 and lies within
/// `kSameMargin`, and the floor is at most `kMostNoise`, else `inconclusive`. Swapping the sides
/// gives the opposite verdict, however large the floor.
///
/// Medians do not see a slow minority of calls. The comparison is `bimodal` and `inconclusive` when
/// the ratio of trimmed means over all rounds (2 % off each end) differs from the speed-up by more
/// than the floor and a quarter of the gain, beyond the means' own 95 % interval or together with
/// significantly more slow calls on one side (a quarter longer than the middle of their round).
/// `faster` and `slower` also need means that agree within their standard error. A rare outlier is
/// trimmed, and noise that hits both sides alike cancels out. Errors: `invalid_argument` for no
/// rounds, an empty side or a time that is not positive.
[[nodiscard]] Result<Comparison> compare(std::span<const PairedRound> rounds, double noise_floor,
                                         std::string against, double error_rate = kErrorRate);

/// The value that a t-distributed variable of `freedom` degrees exceeds with probability `tail`.
[[nodiscard]] double student_t(int freedom, double tail);

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
/// `unavailable` with fewer than `kLeastPairs` rounds.
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
