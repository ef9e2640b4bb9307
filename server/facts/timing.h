#pragma once

// Times with confidence intervals, and paired comparisons with verdicts.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/field.h"
#include "server/core/units.h"

namespace ratchet {

enum class Verdict { baseline, faster, slower, same, inconclusive, incorrect, invalid };
constexpr auto enum_names(Verdict) {
  using enum Verdict;
  return as_written<baseline, faster, slower, same, inconclusive, incorrect, invalid>();
}

enum class CacheMode { cold, hot };
constexpr auto enum_names(CacheMode) {
  return as_written<CacheMode::cold, CacheMode::hot>();
}

/// Summary of the samples of one kernel on one case.
struct Timing {
  Nanoseconds median, ci_low, ci_high;  ///< of the rounds' times, with a 95 % interval
  Nanoseconds mean, std, min, max, p20, p80;
  int samples = 0;
  int discarded = 0;  ///< throttled or first samples
  CacheMode cache_mode = CacheMode::cold;
  std::optional<Megahertz> clock;         ///< mean SM or core clock over the samples
  std::optional<Megahertz> device_clock;  ///< the device's highest
  std::optional<double> tracing_ns;  ///< what recording several kernels may have added to a call
  std::string stop_reason;           ///< interval_reached, time_limit or sample_limit
  std::vector<std::string> flags;    ///< launch_gap_included, implausibly_fast, …
  std::string conditions;            ///< which clock, where it ran, contention

  static constexpr void fields(auto&& visit) {
    using T = Timing;
    visit(required("median_ns", &T::median, "Median time per call, ns."),
          required("ci_low_ns", &T::ci_low, "95 % interval of the median, low end, ns."),
          required("ci_high_ns", &T::ci_high, "High end, ns."),
          required("mean_ns", &T::mean, "Mean, ns."),
          required("std_ns", &T::std, "Sample standard deviation, ns."),
          required("min_ns", &T::min, "Minimum, ns."), required("max_ns", &T::max, "Maximum, ns."),
          required("p20_ns", &T::p20, "20th percentile, ns."),
          required("p80_ns", &T::p80, "80th percentile, ns."),
          required<&T::samples>("Samples kept."), required<&T::discarded>("Samples discarded."),
          required<&T::cache_mode>("cold: caches were flushed before each call."),
          optional("clock_mhz", &T::clock, "Mean clock during the samples, MHz."),
          optional("device_clock_mhz", &T::device_clock, "The device's highest clock, MHz."),
          optional<&T::tracing_ns>("What recording its kernels may have added, ns."),
          required<&T::stop_reason>("Why sampling ended."), required<&T::flags>("Caveats."),
          optional<&T::conditions>("Clock used, cores, contention on the device."));
  }

  [[nodiscard]] bool has_flag(std::string_view flag) const {
    return std::ranges::find(flags, flag) != flags.end();
  }
};

/// A paired, interleaved comparison; speedups are other ÷ candidate.
struct Comparison {
  std::string against;  ///< "parent", "v0" or a baseline's name
  double speedup = 1;
  double ci_low = 1;
  double ci_high = 1;
  int pairs = 0;
  double noise_floor = 0;  ///< as a fraction: 0.005 = 0.5 %
  Verdict verdict = Verdict::inconclusive;
  std::optional<std::string> version;       ///< which version `against` was, such as "v3"
  std::optional<double> speedup_mean;       ///< of trimmed means; only where the flags need it
  std::optional<double> seconds_to_decide;  ///< of sampling, at this noise; only inconclusive
  /// bimodal, throttled, cores_held, tracing_bias, device_shared, …; empty: none
  std::optional<std::vector<std::string>> flags;

  static constexpr void fields(auto&& visit) {
    using C = Comparison;
    visit(required<&C::against>("Opponent: parent, v0 or a baseline."),
          required<&C::speedup>("Median of the paired ratios, other ÷ candidate."),
          required<&C::ci_low>(
              "95 % interval, low end; covers all looks and all candidates together."),
          required<&C::ci_high>("High end."), required<&C::pairs>("Number of interleaved pairs."),
          required<&C::noise_floor>("Differences below this fraction are noise."),
          required<&C::verdict>("Based on the interval, not on two means."),
          optional<&C::version>("The version it was compared with."),
          optional<&C::speedup_mean>("Ratio of trimmed means, where it contradicts the median."),
          optional<&C::seconds_to_decide>("How long a decision takes at this noise."),
          optional<&C::flags>("bimodal: a slow minority; throttled: rounds were dropped."));
  }
};

/// Whether a comparison is open although its interval excludes the noise: its times were bimodal,
/// or samples were throttled, neighbors held the cores, or the clock is too coarse. Pure.
[[nodiscard]] bool is_doubtful(const Comparison& comparison);

/// For people: "faster", or "inconclusive (bimodal: 0.8x by trimmed means; cores_held)".
[[nodiscard]] std::string verdict_text(const Comparison& comparison);

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<Timing>();
extern template const FieldTable& table_of<Comparison>();
}  // namespace ratchet::fields_detail
