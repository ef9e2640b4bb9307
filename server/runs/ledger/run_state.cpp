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

std::optional<VersionId> best_version(const RunState& state) {
  std::optional<VersionId> best;
  double best_speedup = 1;
  for (const auto& version : state.versions) {
    if (!version.is_correct() || !version.profile || version.stage < Stage::profiled) continue;
    if (version.id.number == 0) best = version.id;
    const auto* const comparison = against_v0(version);
    if (comparison == nullptr || comparison->verdict != Verdict::faster) continue;
    if (comparison->speedup <= best_speedup) continue;
    best = version.id;
    best_speedup = comparison->speedup;
  }
  return best;
}

const Hypothesis* tested_hypothesis(const RunState& state, const VersionState& version) {
  const auto* const parent = version.parent ? state.find(*version.parent) : nullptr;
  return parent != nullptr && parent->hypothesis ? &*parent->hypothesis : nullptr;
}

std::vector<MetricFact> all_metrics(const Profile& profile) {
  std::vector<MetricFact> metrics;
  for (const auto& [name, value] : profile.metrics) metrics.push_back({name, "", value});
  for (const auto& kernel : profile.kernels)
    for (const auto& [name, value] : kernel.metrics) metrics.push_back({name, kernel.name, value});
  return metrics;
}

}  // namespace ratchet
