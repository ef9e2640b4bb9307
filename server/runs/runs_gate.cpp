#include <fmt/format.h>

#include "server/runs/ledger/disk.h"
#include "server/runs/render/render.h"
#include "server/runs/rules/gate_rules.h"
#include "server/runs/rules/prose.h"
#include "server/runs/runs_impl.h"

#include <cstdint>

namespace ratchet {
namespace {

GateAnswer answer_of(const RunState& state, bool passed, std::vector<Reason> reasons) {
  GateAnswer answer;
  static_cast<RunView&>(answer) = view_of(state);
  answer.passed = passed;
  answer.reasons = std::move(reasons);
  return answer;
}

/// Hypothesis and plan of evidence that is written anew: they cite what is no longer there.
std::vector<std::string> fallen_hypothesis(const RunState& state) {
  std::vector<std::string> fallen{state.open().id.text() + "/hypothesis.txt",
                                  render::plan_path(state.open().id)};
  std::erase_if(fallen, [&](const std::string& path) { return !state.artifacts.contains(path); });
  return fallen;
}

}  // namespace

Result<QuerySituation> RunsImpl::query_situation(const RunId& run) {
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  const auto& contract = state.contract.contract;
  QuerySituation situation;
  situation.language = contract.implementation == Implementation::host_cpp
                           ? "cpp"
                           : name_of(contract.implementation);
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

Status RunsImpl::record_query(const RunId& run, const std::string& query,
                              const std::string& purpose, const QueryAnswer& answer) {
  if (!purpose.empty() && purpose != "kernel" && purpose != "bottleneck")
    return Error{ErrorCode::invalid_argument,
                 fmt::format("purpose: must be kernel or bottleneck, got \"{}\"", purpose),
                 "Leave it out for any other query."};
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = store_->load_intact(run);
  if (!state) return state.error();
  const Change change{(*state)->open().id,
                      kind::kQuery,
                      std::nullopt,
                      encode(QueryFact{query, purpose, answer}),
                      {},
                      {},
                      {}};
  if (const auto after = store_->commit(**state, change); !after) return after.error();
  return {};
}

Result<ArtifactAnswer> RunsImpl::write_evidence(const RunId& run, const EvidenceRequest& request) {
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = ready_for(run, Event::evidence_written);
  if (!state) return state.error();
  const auto fact = resolve_evidence(**state, request);
  if (!fact) return fact.error();
  Change change{(*state)->open().id,
                kind::kEvidence,
                Event::evidence_written,
                encode(*fact),
                {},
                fallen_hypothesis(**state),
                {}};
  change.render = [](const RunState& after, const std::string& time) {
    return std::vector{render::evidence({after, after.open(), time}),
                       render::research_digest(after, time)};
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return artifact_answer(**after, {(*after)->open().id.text() + "/kbs_evidence.md"});
}

Result<ArtifactAnswer> RunsImpl::write_hypothesis(const RunId& run, const Hypothesis& hypothesis) {
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto state = ready_for(run, Event::hypothesis_written);
  if (!state) return state.error();
  if (auto checked = check_hypothesis(**state, hypothesis); !checked) return checked.error();
  Change change{(*state)->open().id,
                kind::kHypothesis,
                Event::hypothesis_written,
                encode(hypothesis),
                {},
                {},
                {}};
  change.render = [](const RunState& after, const std::string& time) {
    const render::Subject subject{after, after.open(), time};
    return std::vector{render::hypothesis(subject), render::plan(subject)};
  };
  const auto after = store_->commit(**state, change);
  if (!after) return after.error();
  return artifact_answer(**after, {(*after)->open().id.text() + "/hypothesis.txt"});
}

Result<GateAnswer> RunsImpl::check_gate(const RunId& run, bool final_gate, bool abandon) {
  if (final_gate && abandon)
    return Error{ErrorCode::invalid_argument, "final and abandon: only one of them at a time",
                 "Call check_gate with abandon, then with final."};
  const auto lock = store_->lock(run);
  if (!lock) return lock.error();
  const auto loaded = store_->load(run);
  if (!loaded) return loaded.error();
  const RunState& state = *loaded->state;
  // The final gate vouches for the whole run and takes no file and no row as known.
  auto chain =
      final_gate ? store_->ledger().first_break(run) : store_->ledger().first_new_break(run);
  if (!chain) return chain.error();
  if (abandon && !*chain) return abandon_version(state);

  const auto on_disk = final_gate ? disk::inspect_bytes(state)
                                  : disk::inspect(state, disk::Extent::whole, store_->digests());
  auto reasons = final_gate ? final_reasons(state, on_disk, *chain)
                            : transition_reasons(state, on_disk, *chain);
  if (!reasons.empty()) {
    // What is only missing is put back, so that the next call can pass; what was changed stays.
    const bool may_write = !*chain && !disk::blocking(reasons, Event::gate_passed);
    if (may_write) {
      auto restored = store_->restore(state, disk::missing(state, on_disk));
      if (restored) restored = RunStore::write_state_file(state);
      if (!restored) return restored.error();
    }
    return answer_of(state, false, std::move(reasons));
  }
  if (state.open().stage == Stage::finished) return answer_of(state, true, {});
  return pass_gate(state, final_gate ? Event::final_gate_passed : Event::gate_passed);
}

Result<GateAnswer> RunsImpl::abandon_version(const RunState& state) {
  const auto& open = state.open();
  if (auto next = stage_after(open, Event::abandoned); !next) return refusal(state, next.error());
  if (!state.retries_exhausted())
    return Error{ErrorCode::wrong_stage,
                 fmt::format("{} has used {} of {} retries; it is abandoned after the last one",
                             open.id.text(), open.retries_used, state.contract.contract.retries),
                 "Call submit_kernel first."};
  return pass_gate(state, Event::abandoned);
}

Result<GateAnswer> RunsImpl::pass_gate(const RunState& state, Event event) {
  const auto& open = state.open();
  if (auto next = stage_after(open, event); !next) return next.error();
  GateFact fact{event == Event::final_gate_passed, std::nullopt};
  if (!fact.final_gate && !state.at_last_version()) fact.opens = VersionId{open.id.number + 1};
  Change change{open.id, kind::kGate, event, encode(fact), {}, {}, {}};
  change.render = [&](const RunState& after, const std::string& time) {
    auto files = render::ledgers(after, time);
    files.push_back(render::memory({after, *after.find(open.id), time}));
    return files;
  };
  const auto after = store_->commit(state, change);
  if (!after) return after.error();
  return answer_of(**after, true, {});
}

Result<AuditReport> RunsImpl::audit(const RunId& run) {
  if (auto done = store_->finish(run); !done && done.error().code != ErrorCode::not_found)
    return done.error();
  AuditReport report;
  const auto rows = store_->ledger().rows(run);
  if (!rows) return rows.error();
  report.rows = static_cast<std::int64_t>(rows->size());
  const auto chain = store_->ledger().first_break(run);
  if (!chain) return chain.error();
  if (*chain) report.breaks.push_back(**chain);
  const auto loaded = store_->load(run);
  if (!loaded) {
    if (report.breaks.empty() || rows->empty()) return loaded.error();
    return report;
  }
  const RunState& state = *loaded->state;
  std::vector<std::pair<std::string, std::string>> texts(state.artifacts.begin(),
                                                         state.artifacts.end());
  texts.emplace_back("reference", state.contract.reference_blob);
  texts.emplace_back("kernel", state.contract.kernel_blob);
  for (const auto& attempt : state.attempts)
    if (!attempt.source_digest.empty())
      texts.emplace_back("source of row " + std::to_string(attempt.sequence),
                         attempt.source_digest);
  for (const auto& [name, digest] : texts)
    if (const auto text = store_->ledger().blob(digest); !text)
      report.breaks.push_back(
          {"text_changed", fmt::format("{}: {}", name, text.error().message), name});
  for (auto& reason : disk::inspect_bytes(state)) report.breaks.push_back(std::move(reason));
  report.intact = report.breaks.empty();
  return report;
}

}  // namespace ratchet
