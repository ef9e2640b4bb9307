#include "server/runs/ledger/run_state.h"

#include <algorithm>

namespace ratchet {

const VersionState* RunState::find(VersionId id) const {
  const auto found = std::ranges::lower_bound(versions, id, {}, &VersionState::id);
  return found == versions.end() || found->id != id ? nullptr : &*found;
}

ArtifactRange RunState::artifacts_in(const std::string& folder) const {
  return {artifacts.lower_bound(folder + '/'), artifacts.lower_bound(folder + char{'/' + 1})};
}

std::optional<VersionId> RunState::parent_of(VersionId id) const {
  for (const auto& version : versions | std::views::reverse)
    if (version.id < id && version.is_correct()) return version.id;
  return std::nullopt;
}

Result<Stage> stage_after(const VersionState& version, Event event) {
  const bool is_v0 = version.id.number == 0;
  if (is_v0 && (event == Event::submitted || event == Event::build_failed))
    return Error{ErrorCode::wrong_stage,
                 "v0's kernel is frozen in the contract; create_run starts a run from another one"};
  auto next = advance(version.stage, event);
  if (next && is_v0 && *next == Stage::open) return Stage::built;
  return next;
}

std::optional<Verdict> verdict_of(const VersionState& version) {
  if (version.correctness && !version.correctness->passed) return Verdict::incorrect;
  if (!version.profile) return std::nullopt;
  if (version.profile->fault) return Verdict::invalid;
  return version.profile->verdict;
}

const Comparison* against_parent(const VersionState& version) {
  if (!version.profile) return nullptr;
  const auto& all = version.profile->comparisons;
  const auto found = std::ranges::find(all, std::string("parent"), &Comparison::against);
  return found == all.end() ? nullptr : &*found;
}

const Comparison* against_v0(const VersionState& version) {
  if (!version.profile) return nullptr;
  const auto& all = version.profile->comparisons;
  const auto found = std::ranges::find(all, std::string("v0"), &Comparison::against);
  if (found != all.end()) return &*found;
  return version.parent == VersionId{0} ? against_parent(version) : nullptr;
}

std::optional<std::string> judged_on(const VersionState& version) {
  if (!version.profile) return std::nullopt;
  auto values = judged_values(version.profile->time_depends_on_values);
  return values == kNormalValues ? std::nullopt : std::optional(std::move(values));
}

const Comparison* against(const VersionState& version, VersionId other) {
  if (!version.profile) return nullptr;
  const auto& all = version.profile->comparisons;
  const auto named = std::ranges::find_if(all, [&](const Comparison& one) {
    return one.against == "best" && version.profile->best_version == other.text();
  });
  if (named != all.end()) return &*named;
  if (other.number == 0) return against_v0(version);
  return version.parent == other ? against_parent(version) : nullptr;
}

std::optional<double> gain_over(const VersionState& version, const VersionState& best) {
  const auto* const to_v0 = against_v0(version);
  if (to_v0 == nullptr || to_v0->verdict != Verdict::faster) return std::nullopt;
  if (version.profile->best_version == best.id.text()) {
    const auto* const direct = against(version, best.id);
    if (direct == nullptr || direct->verdict != Verdict::faster) return std::nullopt;
    return direct->speedup - 1;
  }
  const auto* const of_best = against_v0(best);
  const double before = of_best == nullptr ? 1 : of_best->speedup;
  if (to_v0->speedup <= before) return std::nullopt;
  return to_v0->speedup / before - 1;
}

std::optional<VersionId> best_version(const RunState& state, std::optional<VersionId> without) {
  const VersionState* best = nullptr;
  for (const auto& version : state.versions) {
    if (!version.is_correct() || !version.profile || version.stage < Stage::profiled ||
        version.id == without)
      continue;
    if (version.id.number == 0 || (best != nullptr && gain_over(version, *best))) best = &version;
  }
  return best == nullptr ? std::nullopt : std::optional(best->id);
}

const Hypothesis* tested_hypothesis(const RunState& state, const VersionState& version) {
  const auto* const parent = version.parent ? state.find(*version.parent) : nullptr;
  return parent != nullptr && parent->hypothesis ? &*parent->hypothesis : nullptr;
}

std::optional<LabAccount> lab_account(const RunState& state) {
  const auto& lab = state.contract.contract.lab;
  if (!lab) return std::nullopt;
  return LabAccount{state.lab_use, state.lab_budget, *lab};
}

std::vector<MetricFact> all_metrics(const Profile& profile) {
  std::vector<MetricFact> metrics;
  for (const auto& [name, value] : profile.metrics) metrics.push_back({name, "", value});
  for (const auto& kernel : profile.kernels)
    for (const auto& [name, value] : kernel.metrics) metrics.push_back({name, kernel.name, value});
  return metrics;
}

}  // namespace ratchet
