#include "server/runs/rules/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "server/runs/records/axis_budget.h"
#include "server/runs/records/markdown.h"

namespace ratchet {
namespace {

constexpr std::size_t kPlateauVersions = 3;
constexpr double kPlateauGain = 0.005;

double share_of(const Contract& contract, const Dims& dims) {
  for (const auto& one : contract.cases)
    if (!one.hidden && one.dims == dims) return one.weight;
  return 0;
}

}  // namespace

std::vector<double> gains(const RunState& state) {
  std::vector<double> all;
  double best = 1;
  for (const auto& version : state.versions) {
    if (version.id.number == 0) continue;
    double gain = 0;
    const auto* const comparison = against_v0(version);
    const bool counts = version.is_correct() && comparison != nullptr &&
                        comparison->verdict == Verdict::faster &&
                        !state.masked.contains(version.id);
    if (counts && comparison->speedup > best) {
      gain = comparison->speedup / best - 1;
      best = comparison->speedup;
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
    if (stop.speedup && comparison != nullptr && comparison->ci_low >= *stop.speedup)
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
  double logs = 0;
  double weights = 0;
  int cases = 0;
  int missing = 0;
  for (const auto& one : state.contract.contract.cases) missing += one.hidden ? 0 : 1;
  for (const auto& row : version->benchmark->rows) {
    if (row.name != "v0" || !row.speedup_median || *row.speedup_median <= 0) continue;
    const double weight = share_of(state.contract.contract, row.dims);
    logs += weight * std::log(*row.speedup_median);
    weights += weight;
    promotion.lowest =
        std::min(promotion.lowest.value_or(*row.speedup_median), *row.speedup_median);
    ++cases;
  }
  if (cases < missing || weights <= 0) {
    promotion.why = fmt::format("the benchmark of {} covers {} of {} cases against v0",
                                best->text(), cases, missing);
    return promotion;
  }
  promotion.geomean = std::exp(logs / weights);
  promotion.promotable = *promotion.geomean >= kPromotionGeomean && *promotion.lowest >= 1.0;
  promotion.why = fmt::format("{}: geometric mean {:.3f} over {} cases, lowest {:.3f}",
                              best->text(), *promotion.geomean, cases, *promotion.lowest);
  return promotion;
}

}  // namespace ratchet
