// Rows about methods, branches, ablations, memory, acceptance and dispatchers.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "server/runs/ledger/fold.h"

namespace ratchet::fold {
namespace {

VersionState* find(RunState& state, VersionId id) {
  const auto found = std::ranges::find(state.versions, id, &VersionState::id);
  return found == state.versions.end() ? nullptr : &*found;
}

Status take_methods(RunState& state, MethodsFact fact) {
  std::string ids;
  for (const auto& method : fact.methods) ids += (ids.empty() ? "" : ", ") + method.id;
  auto& version = state.versions.back();
  state.last_result = fmt::format("{}: methods accepted: {}", version.id.text(),
                                  ids.empty() ? "none, nothing is left to gain" : ids);
  version.methods = std::move(fact);
  return {};
}

std::string outcome_of(const BranchResult& branch) {
  std::string text = fmt::format("branch {}: {}", branch.name, name_of(branch.status));
  const auto& compared = branch.confirmation ? branch.confirmation : branch.screening;
  if (compared)
    text += fmt::format(", {:.3f}x the incumbent ({:.3f} … {:.3f})", compared->speedup,
                        compared->ci_low, compared->ci_high);
  else if (!branch.reasons.empty())
    text += ", " + branch.reasons.front().text();
  return text;
}

void adopt(RunState& state, const LedgerRow& row, const BranchResult& champion) {
  auto& version = state.versions.back();
  version.correctness = champion.correctness;
  version.profile.reset();
  version.evidence.reset();
  version.hypothesis.reset();
  version.ablation.reset();
  version.build =
      BuildFact{champion.candidate, champion.source_blob, champion.stripped_digest, champion.note};
  version.built_at = row.time;
}

Status take_branches(RunState& state, const LedgerRow& row, const std::optional<Event>& event,
                     BranchesFact fact) {
  auto& version = state.versions.back();
  for (const auto& branch : fact.branches) {
    note_attempt(state, row, event.value_or(Event::build_failed), outcome_of(branch));
    state.attempts.back().source_digest = branch.source_blob;
    if (event == Event::explored && branch.name == fact.champion) adopt(state, row, branch);
  }
  if (event == Event::branches_failed) ++version.retries_used;
  state.last_result = fmt::format("{}: {}", version.id.text(), fact.decision);
  version.explorations.push_back(std::move(fact));
  return {};
}

Status take_ablation(RunState& state, const LedgerRow& row, AblationFact fact) {
  auto* const version = find(state, row.version);
  if (version == nullptr) return {};
  state.last_result =
      fmt::format("{}: {} methods ablated", version->id.text(), fact.attribution.size());
  version->ablation = std::move(fact);
  return {};
}

Status take_mask(RunState& state, const MaskFact& fact) {
  for (const auto& id : fact.versions)
    if (fact.mask)
      state.masked.insert(id);
    else
      state.masked.erase(id);
  state.last_result =
      fmt::format("{} versions {}", fact.versions.size(), fact.mask ? "masked" : "unmasked");
  return {};
}

Status take_dispatch(RunState& state, DispatchFact fact) {
  state.last_result =
      fmt::format("dispatcher over {} variants: {}", fact.variants.size(), fact.verdict);
  state.dispatch = std::move(fact);
  return {};
}

}  // namespace

std::optional<Status> search_row(RunState& state, const LedgerRow& row, const Entry& entry) {
  if (row.kind == kind::kMethods)
    return with<MethodsFact>(
        row, entry.fact, [&](MethodsFact fact) { return take_methods(state, std::move(fact)); });
  if (row.kind == kind::kBranches)
    return with<BranchesFact>(row, entry.fact, [&](BranchesFact fact) {
      return take_branches(state, row, entry.event, std::move(fact));
    });
  if (row.kind == kind::kAblation)
    return with<AblationFact>(row, entry.fact, [&](AblationFact fact) {
      return take_ablation(state, row, std::move(fact));
    });
  if (row.kind == kind::kSignatures)
    return with<SignatureFact>(row, entry.fact, [&](SignatureFact fact) {
      auto& known = state.signatures[fact.binary_digest];
      for (auto& [id, verdict] : fact.verdicts) known[id] = std::move(verdict);
      return Status{};
    });
  if (row.kind == kind::kMask)
    return with<MaskFact>(row, entry.fact,
                          [&](const MaskFact& fact) { return take_mask(state, fact); });
  if (row.kind == kind::kAcceptance)
    return with<AcceptanceFact>(row, entry.fact, [&](AcceptanceFact fact) {
      std::ranges::move(fact.pairs, std::back_inserter(state.acceptance));
      state.last_result = fmt::format("{} acceptance pairs defined", state.acceptance.size());
      return Status{};
    });
  if (row.kind == kind::kReview)
    return with<ReviewFact>(row, entry.fact, [&](ReviewFact fact) {
      state.last_result = fmt::format("pair {} reviewed: {}", fact.pair, name_of(fact.verdict));
      state.reviews[fact.pair] = std::move(fact);
      return Status{};
    });
  if (row.kind == kind::kDispatch)
    return with<DispatchFact>(
        row, entry.fact, [&](DispatchFact fact) { return take_dispatch(state, std::move(fact)); });
  return std::nullopt;
}

}  // namespace ratchet::fold
