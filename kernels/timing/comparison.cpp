#include "kernels/timing/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/timing/statistics.h"

namespace ratchet {
namespace {

/// A verdict that does not stand with this interval, beyond this factor, is open.
void leave_open(double low, double high, double noise, const char* flag, Comparison& comparison) {
  const bool doubtful = (comparison.verdict == Verdict::faster && low <= noise) ||
                        (comparison.verdict == Verdict::slower && high >= 1 / noise);
  if (!doubtful) return;
  comparison.verdict = Verdict::inconclusive;
  add_flag(comparison, flag);
}

/// Leaves a verdict open that would not stand without what these shares of the sides' times are
/// due to; when they are alike, the speed-up is the same without it.
void judge_without(double candidate_share, double other_share, const char* flag,
                   Comparison& comparison) {
  const double corrected = (1 - other_share) / std::max(1 - candidate_share, 0.01);
  leave_open(comparison.ci_low * std::min(corrected, 1.0),
             comparison.ci_high * std::max(corrected, 1.0), 1 + comparison.noise_floor, flag,
             comparison);
}

}  // namespace

void judge_neighbors(double candidate_held, double other_held, Comparison& comparison) {
  judge_without(candidate_held, other_held, kCoresHeld, comparison);
}

void judge_tracing(double candidate_share, double other_share, Comparison& comparison) {
  judge_without(candidate_share, other_share, kTracingBias, comparison);
}

double tracing_of(std::span<const wire::Samples> blocks) {
  double most = 0;
  for (const auto& block : blocks) most = std::max(most, block.tracing_ns.value_or(0));
  return most;
}

double tracing_share(std::span<const wire::Samples> blocks) {
  const double tracing = tracing_of(blocks);
  std::vector<double> times;
  for (const auto& block : blocks)
    times.insert(times.end(), block.elapsed_ns.begin(), block.elapsed_ns.end());
  if (tracing <= 0 || times.empty()) return 0;
  return std::min(1.0, tracing / median_of(std::move(times)));
}

void note_tracing(double tracing_ns, Timing& timing) {
  if (!(tracing_ns > 0)) return;
  timing.tracing_ns = tracing_ns;
  if (tracing_ns > kMostTracing * timing.median.value) timing.flags.emplace_back(kTracingBias);
}

std::optional<double> own_noise(const Comparison& itself) {
  if (itself.verdict != Verdict::faster && itself.verdict != Verdict::slower) return std::nullopt;
  return std::expm1(std::abs(std::log(itself.speedup)));
}

void hold_against_own(double own_noise, Comparison& comparison) {
  leave_open(comparison.ci_low, comparison.ci_high, 1 + kOwnNoiseTimes * own_noise, kOwnNoise,
             comparison);
}

double held_share(std::span<const wire::Samples> blocks) {
  double sum = 0;
  double count = 0;  // of blocks with calls
  for (const auto& block : blocks) {
    if (block.elapsed_ns.empty()) continue;
    sum += block.held.value_or(0);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

void add_flag(Comparison& comparison, const char* flag) {
  if (!comparison.flags) comparison.flags.emplace();
  if (std::ranges::find(*comparison.flags, flag) == comparison.flags->end())
    comparison.flags->emplace_back(flag);
}

bool has_flag(const Comparison& comparison, const char* flag) {
  return comparison.flags && std::ranges::find(*comparison.flags, flag) != comparison.flags->end();
}

std::optional<double> rounds_to_decide(const Comparison& comparison) {
  constexpr double kMostTimes = 100;
  constexpr double kLeastTimes = 1.5;
  if (comparison.verdict != Verdict::inconclusive || comparison.pairs == 0 ||
      comparison.ci_low <= 0 || has_flag(comparison, kBimodal))
    return std::nullopt;
  const double floor = comparison.noise_floor;
  const double gain = std::abs(std::log(comparison.speedup));
  double room = gain - std::log1p(floor);  // to be faster or slower
  if (floor <= kMostNoise) room = std::max(room, std::log1p(std::max(floor, kSameMargin)) - gain);
  if (room <= 0) return std::nullopt;
  const double half = std::log(comparison.ci_high / comparison.ci_low) / 2;
  const double times = std::max(kLeastTimes, (half / room) * (half / room));
  if (times > kMostTimes) return std::nullopt;
  return times * comparison.pairs;
}

Comparison inverted(const Comparison& comparison, std::string against) {
  Comparison other = comparison;
  other.against = std::move(against);
  other.version.reset();
  other.speedup = 1 / comparison.speedup;
  other.ci_low = 1 / comparison.ci_high;
  other.ci_high = 1 / comparison.ci_low;
  if (comparison.speedup_mean) other.speedup_mean = 1 / *comparison.speedup_mean;
  if (comparison.verdict == Verdict::faster) other.verdict = Verdict::slower;
  if (comparison.verdict == Verdict::slower) other.verdict = Verdict::faster;
  return other;
}

}  // namespace ratchet
