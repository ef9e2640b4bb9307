#include "kernels/lab/over_values.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/judge/recipe_source.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/lab/laboratory.h"
#include "server/core/clock.h"

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

/// Whether the verdict may be of these values. Of those that a search found, on which all kernels
/// may have next to nothing to do, only where the candidate is slower than its parent.
bool may_decide(const ValueTime& one) {
  return !recipe_of(one.values) ||
         (one.against_parent && one.against_parent->verdict == Verdict::slower);
}

}  // namespace

bool notable(const ValueTime& one, const Comparison& normal) {
  const auto verdict = one.against_normal.verdict;
  return verdict == Verdict::faster || verdict == Verdict::slower ||
         (one.against_parent && differ(normal, *one.against_parent));
}

ValueRange range_of(const std::vector<ValueTime>& all, double median, const Comparison& normal) {
  const auto [slowest, fastest] =
      std::ranges::minmax(all, {}, [](const ValueTime& one) { return one.against_normal.speedup; });
  const auto on_values = [&](const ValueTime& one) { return median / one.against_normal.speedup; };
  ValueRange range{kNormalValues, kNormalValues, {median}, {median}, kNormalValues};
  if (fastest.against_normal.speedup > 1)
    range.fastest = fastest.values, range.low = {on_values(fastest)};
  if (slowest.against_normal.speedup < 1)
    range.slowest = slowest.values, range.high = {on_values(slowest)};
  double least = normal.speedup;
  for (const auto& one : all) {
    if (!may_decide(one) || figure_of(one) >= least) continue;
    least = figure_of(one);
    range.judged_on = one.values;
  }
  return range;
}

/// The candidate on these values against itself on normal ones, and against its parent on these.
Result<ValueTime> OverValues::on(const std::string& values, const Sessions& sessions,
                                 const Profile& profile) {
  const auto& [normal, pair, given] = sessions;
  SessionPlan plan = given;
  wrong_.reset();
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
  if (session->contestants.back().reasons.empty())
    for (const auto& process : std::span(session->contestants).first(2))
      if (!process.reasons.empty()) wrong_ = process.reasons.front();
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

namespace {

/// Of what a search found: the fastest, the slowest, and the worst against the parent.
std::vector<std::string> extremes_of(const std::vector<ValueTime>& found) {
  if (found.empty()) return {};
  const auto speed = [](const ValueTime& one) { return one.against_normal.speedup; };
  std::vector<std::string> extremes{std::ranges::max_element(found, {}, speed)->values};
  for (const auto& other : {*std::ranges::min_element(found, {}, speed),
                            *std::ranges::min_element(found, {}, figure_of)})
    if (std::ranges::find(extremes, other.values) == extremes.end())
      extremes.push_back(other.values);
  return extremes;
}

}  // namespace

Status OverValues::search(double seconds, const Sessions& sessions, Profile& profile,
                          std::vector<ValueTime>& all) {
  constexpr int kMostTried = 128;
  constexpr int kMostFailures = 3;  // one after the other
  const auto begin = std::chrono::steady_clock::now();
  RecipeSource recipes(contract_, trial_seed(secret_, "", "search"));
  const Comparison normal = profile.comparisons.front();
  ValueSearch search;
  std::vector<ValueTime> found;
  std::vector<std::string> kept;
  for (int failures = 0; failures < kMostFailures && search.tried < kMostTried &&
                         milliseconds_since(begin) < 1000 * seconds;) {
    const auto values = recipes.next();
    if (!values) break;
    call_.progress(0, std::nullopt, fmt::format("searching: timing on {} values", *values));
    ++search.tried;
    auto one = on(*values, sessions, profile);
    if (call_.canceled()) return one ? Status{} : one.error();
    if (wrong_) {
      search.notes.push_back(fmt::format("{}: the answers of timed calls were wrong there: {}",
                                         *values, wrong_->text()));
      kept.push_back(*values);
      if (sessions.pair.front().process->fault()) break;
    }
    failures = one || wrong_ ? 0 : failures + 1;
    if (!one) continue;
    recipes.learn(*values, std::abs(std::log(one->against_normal.speedup)));
    if (!notable(*one, normal)) continue;
    // On new contents: chance does not find the same twice.
    one = on(*values, sessions, profile);
    if (one && notable(*one, normal)) found.push_back(*std::move(one));
  }
  std::ranges::move(extremes_of(found), std::back_inserter(kept));
  keep_values(contract_, std::move(kept), search);
  std::ranges::move(found, std::back_inserter(all));
  search.seconds = milliseconds_since(begin) / 1000;
  profile.search = std::move(search);
  return {};
}

bool OverValues::was_wrong(const std::string& values, Profile& profile) const {
  if (!wrong_) return false;
  profile.verdict = Verdict::invalid;
  profile.reasons = {*wrong_};
  profile.reasons.front().message += fmt::format(" (timed on {} values)", values);
  return true;
}

Status OverValues::measure(const Versions& versions, std::vector<CandidateProcess>& processes,
                           const SessionPlan& plan, std::optional<double> search,
                           Profile& profile) {
  auto distributions = values_of(contract_);
  std::erase(distributions, kNormalValues);
  if (distributions.empty() && !search) return {};
  auto copy = lab_.start(contract_, *versions.front().second, CandidateProcess::Use::time,
                         kMostArenas, call_);
  if (!copy) return copy.error();
  const auto contestants = contestants_of(versions, processes);
  const std::vector<Contestant> pair(contestants.begin(), contestants.begin() + 2);
  auto its = arenas(kNormalValues, pair.size());
  if (!its) return its.error();
  Normal itself{*copy, std::move(*its)};
  SessionPlan brief = plan;
  brief.samples = kValueSamples;
  brief.error_rate =
      kErrorRate / static_cast<double>(std::max<std::size_t>(1, distributions.size()));
  const Sessions sessions{itself, pair, brief};
  call_.progress(0, std::nullopt, "timing beside itself");
  auto itself_again = on(kNormalValues, sessions, profile);
  if (call_.canceled()) return itself_again ? Status{} : itself_again.error();
  if (was_wrong(kNormalValues, profile)) return {};
  if (itself_again) profile.own_noise = own_noise(itself_again->against_normal);
  std::vector<ValueTime> all;
  for (const auto& values : distributions) {
    call_.progress(0, std::nullopt, fmt::format("timing on {} values", values));
    auto found = on(values, sessions, profile);
    if (call_.canceled()) return found ? Status{} : found.error();
    if (was_wrong(values, profile)) return {};
    if (found) all.push_back(*std::move(found));
  }
  if (search)
    if (auto done = this->search(*search, sessions, profile, all); !done) return done;
  if (all.empty()) return {};
  const Comparison& normal = profile.comparisons.front();
  const bool depends =
      std::ranges::any_of(all, [&](const ValueTime& one) { return notable(one, normal); });
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
