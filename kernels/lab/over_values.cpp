#include "kernels/lab/over_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/judge/trial_plan.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {

void take_comparisons(const SessionRecord& session, Profile& profile) {
  for (std::size_t i = 1; i < session.contestants.size(); ++i) {
    const auto& other = session.contestants[i];
    auto compared =
        other.reasons.empty() ? comparison_of(session, i) : Result<Comparison>(unavailable(""));
    if (compared) {
      profile.comparisons.push_back(*std::move(compared));
      continue;
    }
    // Without a pair there is no verdict: the other version passed before but failed now.
    Comparison none;
    none.against = other.name;
    none.noise_floor = session.noise_floor;
    profile.comparisons.push_back(std::move(none));
    if (!other.reasons.empty())
      profile.timing.flags.push_back(other.name + "_failed: " + other.reasons.front().text());
  }
}

namespace {

constexpr int kValueSamples = 20;  // ten rounds: enough for a verdict of each of six distributions
// A slow kernel gets as many only on values on which a brief look finds it to be different.
constexpr Nanoseconds kSlow{2e6};
constexpr int kBriefSamples = 6;
constexpr double kBriefMargin = 0.05;

/// Whether two intervals of a speed-up differ by more than the noise.
bool differ(const Comparison& a, const Comparison& b) {
  const double noise = 1 + std::max(a.noise_floor, b.noise_floor);
  return a.ci_high * noise < b.ci_low || b.ci_high * noise < a.ci_low;
}

/// Whether a brief look could have missed a difference from normal values.
bool needs_a_closer_look(const ValueTime& one, const Comparison& normal) {
  const auto apart = [&](const Comparison& a, double b) {
    return std::abs(std::log(a.speedup / b)) > std::log1p(std::max(a.noise_floor, kBriefMargin));
  };
  return apart(one.against_normal, 1) ||
         (one.against_parent && apart(*one.against_parent, normal.speedup));
}

/// How the candidate does on these values: against its parent, or itself on normal ones where the
/// parent fails.
double figure_of(const ValueTime& one) {
  return one.against_parent ? one.against_parent->speedup : one.against_normal.speedup;
}

/// From the values on which it is fastest to those on which it is slowest; `normal`: against its
/// parent on normal ones.
ValueRange range_of(const std::vector<ValueTime>& all, double median, const Comparison& normal) {
  const auto [slowest, fastest] =
      std::ranges::minmax(all, {}, [](const ValueTime& one) { return one.against_normal.speedup; });
  const auto on_values = [&](const ValueTime& one) { return median / one.against_normal.speedup; };
  ValueRange range{kNormalValues, kNormalValues, {median}, {median}, kNormalValues};
  if (fastest.against_normal.speedup > 1)
    range.fastest = fastest.values, range.low = {on_values(fastest)};
  if (slowest.against_normal.speedup < 1)
    range.slowest = slowest.values, range.high = {on_values(slowest)};
  const auto& worst = *std::ranges::min_element(all, {}, figure_of);
  if (figure_of(worst) < normal.speedup) range.judged_on = worst.values;
  return range;
}

}  // namespace

/// The candidate on these values against itself on normal ones, and against its parent on these.
Result<ValueTime> OverValues::on(const std::string& values, Normal& normal,
                                 const std::vector<Contestant>& pair, SessionPlan plan,
                                 const Profile& profile) {
  auto theirs = arenas(values, 0);
  if (!theirs) return theirs.error();
  auto both = split_arenas(normal.process, *normal.arenas, **theirs);
  std::vector<Contestant> contestants{pair.front(), {kNormalValues, &normal.process}};
  contestants.insert(contestants.end(), pair.begin() + 1, pair.end());
  const Comparison& compared = profile.comparisons.front();
  const double median = profile.timing.median.value;
  if (median * std::max(1.0, compared.speedup) > kSlow.value) {
    plan.samples = kBriefSamples;
    auto brief = timed(values, contestants, *both, plan);
    if (!brief || !needs_a_closer_look(*brief, compared)) return brief;
    plan.samples = kValueSamples;
  }
  return timed(values, contestants, *both, plan);
}

Result<ValueTime> OverValues::timed(const std::string& values,
                                    const std::vector<Contestant>& contestants, TimedArenas& arenas,
                                    const SessionPlan& plan) {
  auto session = TimingSession(arenas, plan).run(contestants, call_);
  if (!session) return session.error();
  for (const auto& one : session->contestants)
    if (!one.reasons.empty()) return unavailable(one.name + ": " + one.reasons.front().text());
  ValueTime found;
  found.values = values;
  auto timing = timing_of(*session, 0, plan);
  if (!timing) return timing.error();
  auto compared = comparison_of(*session, 1);
  if (!compared) return compared.error();
  found.median = timing->median;
  found.against_normal = *std::move(compared);
  if (auto parent = comparison_of(*session, 2)) found.against_parent = *std::move(parent);
  return found;
}

Status OverValues::judge_on(const std::string& values, const std::vector<Contestant>& contestants,
                            const SessionPlan& plan, Profile& profile) {
  auto filled = arenas(values, 0);
  if (!filled) return filled.error();
  SessionPlan verdicts = plan;
  verdicts.target = std::numeric_limits<double>::infinity();  // the time is told on normal values
  auto session = TimingSession(**filled, verdicts).run(contestants, call_);
  if (!session) return session.error();
  if (const auto& reasons = session->contestants.front().reasons; !reasons.empty()) {
    profile.verdict = Verdict::invalid;
    profile.reasons = reasons;
    return {};
  }
  profile.comparisons.clear();
  take_comparisons(*session, profile);
  return {};
}

Status OverValues::measure(const Versions& versions, std::vector<CandidateProcess>& processes,
                           const SessionPlan& plan, Profile& profile) {
  auto distributions = distributions_of(contract_);
  std::erase(distributions, kNormalValues);
  if (distributions.empty()) return {};
  auto copy = lab_.start(contract_, *versions.front().second, CandidateProcess::Use::time,
                         TimedArenas::kMost + 1, call_);
  if (!copy) return copy.error();
  const auto contestants = contestants_of(versions, processes);
  const std::vector<Contestant> pair(contestants.begin(), contestants.begin() + 2);
  auto its = arenas(kNormalValues, pair.size());
  if (!its) return its.error();
  Normal itself{*copy, std::move(*its)};
  SessionPlan brief = plan;
  brief.samples = kValueSamples;
  brief.error_rate = kErrorRate / static_cast<double>(distributions.size());
  std::vector<ValueTime> all;
  for (const auto& values : distributions) {
    call_.progress(0, std::nullopt, fmt::format("timing on {} values", values));
    auto found = on(values, itself, pair, brief, profile);
    if (call_.canceled()) return found ? Status{} : found.error();
    // What fails on other values fails the check, not the timing.
    if (found) all.push_back(*std::move(found));
  }
  if (all.empty()) return {};
  const Comparison& normal = profile.comparisons.front();
  const bool depends = std::ranges::any_of(all, [&](const ValueTime& one) {
    const auto verdict = one.against_normal.verdict;
    return verdict == Verdict::faster || verdict == Verdict::slower ||
           (one.against_parent && differ(normal, *one.against_parent));
  });
  if (depends) {
    auto range = range_of(all, profile.timing.median.value, normal);
    if (range.judged_on != kNormalValues)
      if (auto done = judge_on(range.judged_on, contestants, plan, profile); !done) return done;
    profile.time_depends_on_values = std::move(range);
    profile.timing.flags.emplace_back("time_depends_on_values");
  }
  profile.over_values = std::move(all);
  return {};
}

}  // namespace ratchet
