#include "server/runs/rules/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "server/core/figures.h"
#include "server/facts/workload_gain.h"
#include "server/runs/records/axis_budget.h"
#include "server/runs/records/markdown.h"

namespace ratchet {
namespace {

constexpr std::size_t kPlateauVersions = 3;
constexpr double kPlateauGain = 0.005;

/// The lower end of a version's speed-up over v0: from its benchmark, which nobody chose it by,
/// else from its profile.
double least_speedup(const RunState& state, const VersionState& version) {
  if (version.benchmark) {
    const auto gain = workload_gain(*version.benchmark, state.contract.contract, "v0");
    if (gain.missing == 0) return gain.low;
  }
  const auto* const comparison = against_v0(version);
  return comparison == nullptr ? 1 : comparison->ci_low;
}

/// The candidate against v0 over the workload: of one case its own comparison, of several their
/// weighted geometric mean. Empty unless each case was paired with v0.
std::optional<Comparison> over_workload(const Contract& contract, const BenchmarkReport& report) {
  const auto gain = workload_gain(report, contract, "v0");
  if (gain.cases == 0 || gain.missing > 0) return std::nullopt;
  if (gain.cases == 1)
    for (const auto& row : report.rows)
      if (row.name == "v0" && row.comparison) return row.comparison;
  Comparison whole{
      .against = "v0", .speedup = gain.geomean, .ci_low = gain.low, .ci_high = gain.high};
  if (gain.doubtful > 0) return whole;  // inconclusive
  if (whole.ci_low > 1)
    whole.verdict = Verdict::faster;
  else if (whole.ci_high < 1)
    whole.verdict = Verdict::slower;
  return whole;
}

}  // namespace

std::vector<double> gains(const RunState& state) {
  std::vector<double> all;
  const VersionState* best = nullptr;
  for (const auto& version : state.versions) {
    if (version.id.number == 0) {
      best = &version;
      continue;
    }
    double gain = 0;
    if (version.is_correct() && version.profile && !state.masked.contains(version.id)) {
      if (const auto over = gain_over(version, *best)) {
        gain = *over;
        best = &version;
      }
    }
    if (version.is_closed() || version.profile) all.push_back(gain);
  }
  return all;
}

bool on_plateau(const RunState& state) {
  const auto all = gains(state);
  if (all.size() < kPlateauVersions) return false;
  const std::span last(all.end() - static_cast<std::ptrdiff_t>(kPlateauVersions), all.end());
  return std::ranges::max(last) < kPlateauGain;
}

std::vector<Reason> stop_reasons(const RunState& state) {
  std::vector<Reason> reasons;
  const auto add = [&](const char* code, std::string message) {
    reasons.push_back({code, std::move(message), std::nullopt});
  };
  const auto& stop = state.contract.search.stop;
  const auto best = best_version(state);
  if (best) {
    const auto& version = *state.find(*best);
    const auto fraction = roof_fraction(version.profile->roofline);
    if (fraction && *fraction >= stop.roof_fraction)
      add("roof_reached",
          fmt::format("{} runs at {:.0f} % of the measured {} ceiling; {:.0f} % was the target",
                      best->text(), 100 * *fraction, version.profile->roofline.binding,
                      100 * stop.roof_fraction));
    const double median = version.profile->timing.median.value;
    if (stop.median_ns && median <= *stop.median_ns)
      add("time_reached",
          fmt::format("{} takes {} ms", best->text(), markdown::milliseconds(median)));
    const auto* const comparison = against_v0(version);
    if (stop.speedup && comparison != nullptr && least_speedup(state, version) >= *stop.speedup)
      add("speedup_reached", fmt::format("{} is {:.2f}x v0", best->text(), comparison->speedup));
  }
  if (on_plateau(state))
    add("plateau",
        "each of the last three versions gained less than 0.5 %: try another direction; "
        "restart_partial hides half of the earlier attempts");
  const auto stage = state.open().stage;
  if (state.at_last_version() && stage >= Stage::evidenced)
    add("last_version", fmt::format("{} is the last version of the run", state.open().id.text()));
  return reasons;
}

std::vector<Reason> weaknesses(const RunState& state) {
  std::vector<Reason> reasons;
  std::set<std::string> seen;
  const auto add = [&](const Reason& reason) {
    if (seen.insert(reason.code).second) reasons.push_back(reason);
  };
  for (const auto& warning : state.contract.warnings) add(warning);
  if (state.contract.contract.seed_given)
    add({"fixed_seed", "the caller knows the seed, so inputs can be predicted: a weaker result"});
  for (const auto& version : state.versions) {
    if (version.correctness)
      for (const auto& note : version.correctness->notes) add(note);
    if (version.profile && version.profile->degraded)
      add({"degraded_profile",
           "profiled without hardware counters: " +
               version.profile->degraded_reason.value_or("none offered"),
           {}});
  }
  return reasons;
}

std::string Headline::result() const {
  if (!speedup)
    return version.number == 0 ? "no version is faster than v0" : "not compared with v0";
  return fmt::format("{}x v0 (95 % interval {} … {}), {}, {}", three_digits(*speedup),
                     three_digits(*low), three_digits(*high), name_of(verdict), source);
}

std::string Headline::text() const {
  return fmt::format("{}: {}, {}", version.text(), time_text(median_ns), result());
}

std::optional<Headline> headline_of(const RunState& state) {
  const auto best = best_version(state);
  if (!best) return std::nullopt;
  const auto& version = *state.find(*best);
  Headline headline{.version = *best,
                    .median_ns = version.profile->timing.median.value,
                    .source = "by its profile; no final benchmark yet"};
  if (best->number == 0) return headline;
  const auto take = [&](double speedup, double low, double high, Verdict verdict) {
    headline.speedup = speedup;
    headline.low = low;
    headline.high = high;
    headline.verdict = verdict;
  };
  if (state.final_benchmark && state.final_benchmark_version == *best) {
    const auto paired = over_workload(state.contract.contract, state.final_benchmark->report);
    if (paired) {
      headline.source = "by the final benchmark";
      take(paired->speedup, paired->ci_low, paired->ci_high, paired->verdict);
      for (const auto& row : state.final_benchmark->report.rows)
        if (row.name == "candidate" && row.timing) {
          headline.median_ns = row.timing->median.value;
          break;
        }
      return headline;
    }
    headline.source = "by its profile; the final benchmark was not paired";
  }
  if (const auto* const own = against_v0(version))
    take(own->speedup, own->ci_low, own->ci_high, own->verdict);
  return headline;
}

Promotion promotion_of(const RunState& state) {
  Promotion promotion;
  const auto best = best_version(state);
  const auto* const version = best ? state.find(*best) : nullptr;
  if (version == nullptr || best->number == 0) {
    promotion.why = "no version is faster than v0";
    return promotion;
  }
  if (!version->benchmark) {
    promotion.why = fmt::format("{} was not benchmarked over W: call benchmark", best->text());
    return promotion;
  }
  const auto gain = workload_gain(*version->benchmark, state.contract.contract, "v0");
  if (gain.cases > 0) promotion.lowest = gain.lowest;
  if (gain.missing > 0 || gain.cases == 0) {
    promotion.why =
        fmt::format("the benchmark of {} compares {} of {} cases with v0 in at least {} pairs",
                    best->text(), gain.cases, gain.cases + gain.missing, kLeastPairs);
    return promotion;
  }
  promotion.geomean = gain.geomean;
  promotion.geomean_low = gain.low;
  promotion.promotable = gain.low >= kPromotionGeomean && gain.slower == 0 && gain.doubtful == 0;
  const std::string over = gain.cases == 1
                               ? "by its newest benchmark"
                               : fmt::format(
                                     "over {} cases of its newest benchmark, "
                                     "lowest {}x, {} slower",
                                     gain.cases, three_digits(gain.lowest),
                                     gain.slower == 0 ? "none" : std::to_string(gain.slower));
  promotion.why = fmt::format("{}: {}{}x v0, at least {}x, {}", best->text(),
                              gain.cases == 1 ? "" : "geometric mean ", three_digits(gain.geomean),
                              three_digits(gain.low), over);
  if (gain.doubtful > 0)
    promotion.why += fmt::format(
        "; of {} the times were bimodal, throttled, held by neighbors or too short for the clock: "
        "call benchmark again",
        gain.cases == 1 ? "it" : fmt::format("{} of them", gain.doubtful));
  return promotion;
}

}  // namespace ratchet
