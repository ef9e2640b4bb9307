#include <fmt/format.h>

#include <algorithm>

#include "server/runs/ledger/disk.h"
#include "server/runs/permits.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/gate_rules.h"
#include "server/runs/rules/guidance.h"
#include "server/runs/rules/hypothesis_outcome.h"
#include "server/runs/rules/prose.h"
#include "server/runs/runs.h"
#include "server/runs/views.h"

namespace ratchet {
namespace {

/// The hypothesis and plan that cite the evidence being replaced.
std::vector<std::string> fallen_hypothesis(const RunState& state) {
  std::vector<std::string> fallen{state.open().id.text() + "/hypothesis.txt",
                                  render::plan_path(state.open().id)};
  std::erase_if(fallen, [&](const std::string& path) { return !state.artifacts.contains(path); });
  return fallen;
}

/// What the open version says about the hypothesis that it tests.
std::optional<std::string> outcome_text(const RunState& state) {
  const auto outcome = hypothesis_outcome(state, state.open());
  if (!outcome) return std::nullopt;
  return fmt::format("{}: {}", name_of(outcome->decision), behind_fence(outcome->words));
}

/// Records that the open version passed a gate or was abandoned.
Result<GateAnswer> pass_gate(RunStore& store, const RunState& state, Event event) {
  const auto& open = state.open();
  if (auto allowed = step_allowed(state, event); !allowed) return allowed.error();
  GateFact fact{event == Event::final_gate_passed, std::nullopt};
  if (!fact.final_gate && !state.at_last_version()) fact.opens = VersionId{open.id.number + 1};
  const auto after =
      store.commit(state, {.version = open.id,
                           .kind = kind::kGate,
                           .fact = encode(fact),
                           .event = event,
                           .render = [&](const RunState& now, const std::string& time) {
                             auto files = render::ledgers(now, time);
                             files.push_back(render::memory({now, *now.find(open.id), time}));
                             return files;
                           }});
  if (!after) return after.error();
  return GateAnswer{view_of(**after), true, {}, guidance(**after).next, outcome_text(state)};
}

Result<GateAnswer> abandon_version(RunStore& store, const RunState& state) {
  const auto& open = state.open();
  if (auto allowed = step_allowed(state, Event::abandoned); !allowed) return allowed.error();
  if (!state.retries_exhausted())
    return out_of_order(
        state, fmt::format("{} of run {} has used {} of its {} retries, and only a version without "
                           "a retry left can be abandoned",
                           open.id.text(), state.run.text, open.retries_used,
                           state.contract.contract.retries));
  return pass_gate(store, state, Event::abandoned);
}

}  // namespace

Result<QuerySituation> Runs::query_situation(const RunId& run) {
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  const auto& contract = state.contract.contract;
  QuerySituation situation;
  situation.language = name_of(contract.implementation);
  if (contract.implementation == Implementation::host_cpp) situation.language = "cpp";
  if (contract.implementation == Implementation::host_python) situation.language = "python";
  if (contract.device_kind != DeviceKind::host)
    situation.architecture = contract.arch == "native" ? contract.device_name : contract.arch;
  const auto profiled =
      std::ranges::find_if(state.versions.rbegin(), state.versions.rend(),
                           [](const auto& version) { return version.profile.has_value(); });
  if (profiled == state.versions.rend()) return situation;
  if (profiled->profile->bound != Bound::unknown)
    situation.bound = name_of(profiled->profile->bound);
  for (const auto& finding : profiled->profile->findings) situation.findings.push_back(finding.id);
  return situation;
}

Status Runs::record_query(const RunId& run, const std::string& query, const std::string& purpose,
                          const QueryAnswer& answer) {
  if (!purpose.empty() && purpose != "kernel" && purpose != "bottleneck")
    return invalid_argument(
        fmt::format("purpose: must be kernel or bottleneck, got \"{}\"", purpose),
        "Leave purpose out for a query that serves neither.");
  const auto held = hold(*store_, run);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const auto after = store_->commit(state, {.version = state.open().id,
                                            .kind = kind::kQuery,
                                            .fact = encode(QueryFact{query, purpose, answer})});
  if (!after) return after.error();
  return {};
}

Result<ArtifactAnswer> Runs::write_evidence(const RunId& run, const EvidenceRequest& request) {
  const auto held = ready_for(*store_, run, Event::evidence_written);
  if (!held) return held.error();
  const RunState& state = *held->state;
  const auto fact = resolve_evidence(state, request);
  if (!fact) return fact.error();
  return artifacts_after(
      store_->commit(state, {.version = state.open().id,
                             .kind = kind::kEvidence,
                             .fact = encode(*fact),
                             .event = Event::evidence_written,
                             .removed = fallen_hypothesis(state),
                             .render =
                                 [](const RunState& now, const std::string& time) {
                                   return std::vector{render::evidence({now, now.open(), time}),
                                                      render::research_digest(now, time)};
                                 }}),
      {state.open().id.text() + "/kbs_evidence.md"});
}

Result<HypothesisAnswer> Runs::write_hypothesis(const RunId& run, const Hypothesis& hypothesis) {
  const auto held = ready_for(*store_, run, Event::hypothesis_written);
  if (!held) return held.error();
  const RunState& state = *held->state;
  if (auto checked = check_hypothesis(state, hypothesis); !checked) return checked.error();
  auto written = artifacts_after(
      store_->commit(state, {.version = state.open().id,
                             .kind = kind::kHypothesis,
                             .fact = encode(hypothesis),
                             .event = Event::hypothesis_written,
                             .render =
                                 [](const RunState& now, const std::string& time) {
                                   const render::Subject subject{now, now.open(), time};
                                   return std::vector{render::hypothesis(subject),
                                                      render::plan(subject)};
                                 }}),
      {state.open().id.text() + "/hypothesis.txt"});
  if (!written) return written.error();
  return HypothesisAnswer{*std::move(written), evaluated_text(hypothesis)};
}

Result<GateAnswer> Runs::check_gate(const RunId& run, bool final_gate, bool abandon) {
  if (final_gate && abandon)
    return invalid_argument("final and abandon: both are true, but one call does one of them",
                            "Call check_gate with abandon: true first, then with final: true.");
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  if (auto own = own_folder(state); !own) return own.error();
  // The final gate covers the whole run and verifies every row again.
  auto chain =
      final_gate ? store_->ledger().first_break(run) : store_->ledger().first_new_break(run);
  if (!chain) return chain.error();
  if (final_gate && !*chain) {
    auto all = store_->ledger().inspect_chain();
    if (!all) return all.error();
    *chain = std::move(all->broken);
  }
  if (abandon && !*chain) return abandon_version(*store_, state);

  const auto on_disk = disk::inspect(state, disk::Extent::whole);
  auto reasons = final_gate ? final_reasons(state, on_disk, *chain)
                            : transition_reasons(state, on_disk, *chain);
  if (!reasons.empty()) {
    // Missing files are written again, so that the next call can pass; changed files stay.
    const bool may_write = !*chain && !disk::blocking(reasons, Event::gate_passed);
    if (may_write) {
      auto restored = store_->restore(state, disk::missing(state, on_disk));
      if (restored) restored = RunStore::write_state_file(state);
      if (!restored) return restored.error();
    }
    return GateAnswer{view_of(state), false, std::move(reasons), guidance(state, on_disk).next, {}};
  }
  if (state.open().stage == Stage::finished)
    return GateAnswer{view_of(state), true, {}, guidance(state).next, {}};
  return pass_gate(*store_, state, final_gate ? Event::final_gate_passed : Event::gate_passed);
}

}  // namespace ratchet
