#include "server/runs/rules/method_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ratchet {
namespace {

using Reasons = std::vector<Reason>;

std::optional<double> reading(const Profile& profile, const std::string& metric,
                              std::vector<MetricFact>& readings) {
  std::optional<double> worst;
  for (const auto& fact : all_metrics(profile)) {
    if (fact.metric != metric) continue;
    readings.push_back(fact);
    worst = std::max(worst.value_or(fact.value), fact.value);
  }
  return worst;
}

/// The class that the newest ablation of the run gave a method.
std::optional<MethodClass> class_of(const RunState& state, const std::string& id) {
  std::optional<MethodClass> found;
  for (const auto& version : state.versions) {
    if (!version.ablation || state.masked.contains(version.id)) continue;
    for (const auto& one : version.ablation->attribution)
      if (one.id == id) found = one.verdict;
  }
  return found;
}

bool was_selected(const RunState& state, const std::string& id) {
  return std::ranges::any_of(state.versions, [&](const VersionState& version) {
    return version.methods && version.id != state.open().id &&
           std::ranges::find(version.methods->methods, id, &ChosenMethod::id) !=
               version.methods->methods.end();
  });
}

std::optional<std::string> exclusion(const RunState& state, const Method& method) {
  if (const auto missing = obstacle(method, sm_of(state.contract.contract)))
    return std::string(*missing);
  const auto known = class_of(state, method.id);
  if (known == MethodClass::implementation_failed) return "implementation_failed";
  if (known == MethodClass::ineffective) return "ineffective";
  if (was_selected(state, method.id)) return "already_selected";
  return std::nullopt;
}

std::string exclusion_text(const Method& method, const std::string& code) {
  if (code == "arch_incompatible")
    return fmt::format("{} needs sm_{} or later", method.id, method.min_sm);
  if (code == "feature_unavailable" && method.features.empty())
    return fmt::format("{} does not exist on a processor", method.id);
  if (code == "feature_unavailable")
    return fmt::format("{} needs {}, which this architecture lacks", method.id,
                       fmt::join(method.features, ", "));
  if (code == "implementation_failed")
    return fmt::format("{} was tried, but the machine code did not show it", method.id);
  if (code == "ineffective")
    return fmt::format("{} was tried, but its ablation showed no gain", method.id);
  return fmt::format("{} was chosen for an earlier version", method.id);
}

/// Checks a proposal against the registry, the profile and the history of the run.
class Proposal {
 public:
  Proposal(const RunState& state, const std::vector<ProposedMethod>& proposed)
      : state_(state), proposed_(proposed), base_(search_base(state)) {
    for (auto& one : standings(state, base_)) standings_.push_back(std::move(one));
    for (const auto& one : proposed) {
      const auto* const method = find_method(one.id);
      if (method != nullptr) chosen_.insert(method->id);
    }
  }

  Reasons check() {
    if (base_ == nullptr) {
      add("no_profile", "no version has a profile yet: profile v0 first");
      return reasons_;
    }
    check_counts();
    for (const auto& one : proposed_) check_one(one);
    check_pairs();
    return std::move(reasons_);
  }

 private:
  void add(const char* code, std::string message) {
    reasons_.push_back({code, std::move(message), std::nullopt});
  }

  void check_counts() {
    const auto& search = state_.contract.search;
    const AxisBudget budget = budget_of(*base_->profile, search.methods, search.axis_cap);
    if (chosen_.size() != proposed_.size())
      add("count_differs", "methods: a method is named twice, or unknown");
    if (static_cast<int>(proposed_.size()) != budget.total())
      add("count_differs",
          fmt::format("methods: the budget of this profile is {} (compute {}, memory {}, latency "
                      "{}), got {}",
                      budget.total(), budget.compute, budget.memory, budget.latency,
                      proposed_.size()));
    AxisBudget used;
    for (const auto& id : chosen_) {
      const auto axis = find_method(id)->axis;
      ++(axis == Axis::compute ? used.compute : axis == Axis::memory ? used.memory : used.latency);
    }
    for (const auto axis : {Axis::compute, Axis::memory, Axis::latency})
      if (used.of(axis) != budget.of(axis))
        add("axis_over_budget", fmt::format("{}: the budget is {}, the proposal has {}",
                                            name_of(axis), budget.of(axis), used.of(axis)));
  }

  void check_one(const ProposedMethod& one) {
    const auto* const method = find_method(one.id);
    if (method == nullptr) {
      add("unknown_method",
          fmt::format("\"{}\" is not a method; list_methods shows all methods", one.id));
      return;
    }
    if (const auto code = exclusion(state_, *method))
      add(code->c_str(), exclusion_text(*method, *code));
    for (const auto& standing : standings_)
      if (standing.method->axis == method->axis && standing.method->priority < method->priority)
        check_skipped(one, standing);
    for (const auto& skipped : one.skipped_higher) check_claim(skipped);
  }

  /// A method of higher priority must be chosen too, be excluded by the server, or be skipped with
  /// a stated reason.
  void check_skipped(const ProposedMethod& one, const MethodStanding& higher) {
    const bool excused = higher.excluded || !higher.strength || *higher.strength <= 0;
    if (chosen_.contains(higher.method->id) || excused) return;
    const bool claimed = std::ranges::any_of(one.skipped_higher, [&](const SkippedMethod& s) {
      const auto* const method = find_method(s.id);
      return method == higher.method && s.reason == SkipReason::skip_condition && !s.why.empty();
    });
    if (!claimed && told_.insert(higher.method->id).second)
      add("higher_priority_open",
          fmt::format("{}: {} has a higher priority and its trigger has strength {:.2f}: choose "
                      "it, or list it in skipped_higher with skip_condition and why",
                      one.id, higher.method->id, *higher.strength));
  }

  void check_claim(const SkippedMethod& skipped) {
    const auto found = std::ranges::find_if(standings_, [&](const MethodStanding& standing) {
      return standing.method == find_method(skipped.id);
    });
    if (find_method(skipped.id) == nullptr || found == standings_.end()) {
      add("unknown_method", fmt::format("skipped_higher: \"{}\" is not a method", skipped.id));
      return;
    }
    const std::string claim(name_of(skipped.reason));
    const bool quiet = !found->strength || *found->strength <= 0;
    const bool holds = skipped.reason == SkipReason::skip_condition ? !skipped.why.empty()
                       : skipped.reason == SkipReason::no_trigger   ? quiet
                                                                    : found->excluded == claim;
    if (!holds)
      add("skip_reason_false",
          fmt::format(
              "skipped_higher: {}: the reason {} {}", skipped.id, claim,
              skipped.reason == SkipReason::skip_condition ? "needs a why" : "does not hold"));
  }

  void check_pairs() {
    for (const auto& id : chosen_) {
      const auto* const method = find_method(id);
      const auto both = [&](const std::vector<std::string>& names, const char* code,
                            const char* what) {
        for (const auto& name : names) {
          const auto* const other = find_method(name);
          if (other != nullptr && id < other->id && chosen_.contains(other->id))
            add(code, fmt::format("{} and {} {}", id, other->id, what));
        }
      };
      both(method->coupled, "coupled_pair", "are two forms of one change: choose one");
      both(method->conflicts, "conflicting_pair", "exclude each other");
    }
  }

  const RunState& state_;
  const std::vector<ProposedMethod>& proposed_;
  const VersionState* base_;
  std::vector<MethodStanding> standings_;
  std::set<std::string> chosen_;
  std::set<std::string> told_;
  Reasons reasons_;
};

}  // namespace

const VersionState* search_base(const RunState& state) {
  if (const auto best = best_version(state)) return state.find(*best);
  const auto& parent = state.open().parent;
  const auto* const version = parent ? state.find(*parent) : nullptr;
  return version != nullptr && version->profile ? version : nullptr;
}

double strength_of(const MethodTrigger& trigger, double value) {
  const double range = trigger.bad - trigger.good;
  if (range == 0) return value == trigger.good ? 0 : 1;
  return std::clamp((value - trigger.good) / range, 0.0, 1.0);
}

std::vector<MethodStanding> standings(const RunState& state, const VersionState* base) {
  std::vector<MethodStanding> all;
  for (const auto& method : method_registry()) {
    MethodStanding standing{&method, std::nullopt, {}, exclusion(state, method)};
    if (base != nullptr && base->profile)
      for (const auto& trigger : method.triggers)
        if (const auto value = reading(*base->profile, trigger.metric, standing.readings))
          standing.strength = std::max(standing.strength.value_or(0), strength_of(trigger, *value));
    all.push_back(std::move(standing));
  }
  return all;
}

std::vector<Reason> proposal_reasons(const RunState& state,
                                     const std::vector<ProposedMethod>& proposed) {
  return Proposal(state, proposed).check();
}

MethodsFact methods_fact(const RunState& state, const std::vector<ProposedMethod>& proposed) {
  const auto& base = *search_base(state);
  const auto& search = state.contract.search;
  MethodsFact fact;
  fact.base = base.id;
  fact.gaps = gaps_of(*base.profile);
  fact.budget = budget_of(*base.profile, search.methods, search.axis_cap);
  fact.near_peak = near_peak(*base.profile);
  for (auto& standing : standings(state, &base)) {
    const auto found = std::ranges::find_if(proposed, [&](const ProposedMethod& one) {
      return find_method(one.id) == standing.method;
    });
    if (found == proposed.end()) continue;
    fact.methods.push_back({standing.method->id, standing.method->axis, standing.method->priority,
                            standing.strength, std::move(standing.readings),
                            found->skipped_higher});
  }
  return fact;
}

}  // namespace ratchet
