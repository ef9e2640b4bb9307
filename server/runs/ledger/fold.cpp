#include "server/runs/ledger/fold.h"

#include <fmt/format.h>

#include "server/runs/records/analysis.h"
#include "server/runs/records/markdown.h"

namespace ratchet {

Error fold::unreadable(const LedgerRow& row, const Error& why) {
  return {ErrorCode::internal,
          fmt::format("ledger row {} of run {} ({}, schema {}) cannot be read: {}", row.sequence,
                      row.run.text, row.kind, row.schema, why.message),
          "It may have been written by a newer ratchet; use that version."};
}

Error fold::without_event(const LedgerRow& row) {
  return unreadable(row, {ErrorCode::internal, "it names no event", ""});
}

void fold::note_attempt(RunState& state, const LedgerRow& row, Event event, std::string outcome) {
  const auto& version = state.open();
  state.last_result = fmt::format("{}: {}", version.id.text(), outcome);
  state.attempts.push_back({row.sequence, row.time, version.id, row.kind, event,
                            version.build ? version.build->source_blob : "", std::move(outcome)});
}

namespace {

using fold::note_attempt;
using fold::unreadable;
using fold::with;

void open_version(RunState& state, VersionId id) {
  VersionState version;
  version.id = id;
  version.parent = state.parent_of(id);
  state.versions.push_back(std::move(version));
}

Status apply_created(RunState& state, const LedgerRow& row, CreatedFact fact) {
  state.run = row.run;
  state.created = row.time;
  state.environment = fact.environment;
  state.iterations = fact.contract.iterations;
  state.lab_budget = fact.search.budget.value_or(LabBudget{});
  open_version(state, VersionId{0});
  auto& v0 = state.versions.back();
  v0.build = fact.v0;
  v0.built_at = row.time;
  v0.stage = Stage::built;
  state.contract = std::move(fact);
  note_attempt(state, row, Event::submitted, "built from the contract's kernel");
  return {};
}

Status apply_gate(RunState& state, const LedgerRow& row, Event event, const GateFact& fact) {
  auto& version = state.versions.back();
  if (event == Event::abandoned) {
    version.abandoned = true;
    note_attempt(state, row, event, "abandoned after its last retry");
  }
  state.last_result = fmt::format("{}: {}", version.id.text(), name_of(version.stage));
  if (fact.opens) open_version(state, *fact.opens);
  return {};
}

Status apply_extended(RunState& state, const ExtendedFact& fact) {
  state.iterations = fact.iterations;
  state.final_benchmark.reset();
  state.final_benchmark_version.reset();
  state.last_result = fmt::format("the run continues to v{}", fact.iterations);
  auto& last = state.versions.back();
  if (last.stage == Stage::finished)
    last.stage = last.abandoned ? Stage::abandoned
                                : (last.hypothesis ? Stage::hypothesized : Stage::evidenced);
  if (fact.opens) open_version(state, *fact.opens);
  return {};
}

/// Rows about the lab that a run has; empty if it is none.
std::optional<Status> lab_row(RunState& state, const LedgerRow& row, const Entry& entry) {
  if (row.kind == kind::kLabTime)
    return with<LabUse>(row, entry.fact, [&](LabUse use) {
      state.lab_use.seconds += use.seconds;
      state.lab_use.cost += use.cost;
      if (use.currency) state.lab_use.currency = std::move(use.currency);
      return Status{};
    });
  if (row.kind == kind::kBudget)
    return with<LabBudget>(row, entry.fact, [&](const LabBudget& budget) {
      state.lab_budget = budget;
      state.last_result = "the budget of labs was changed";
      return Status{};
    });
  if (row.kind == kind::kMoved)
    return with<MovedFact>(row, entry.fact, [&](const MovedFact& fact) {
      state.contract.contract.lab = fact.to;
      state.last_result = fmt::format("moved from lab {} to {}", fact.from, fact.to);
      return Status{};
    });
  return std::nullopt;
}

Status apply_fact(RunState& state, const LedgerRow& row, const Entry& entry) {
  if (auto done = fold::measurement_row(state, row, entry)) return *done;
  if (auto done = fold::search_row(state, row, entry)) return *done;
  if (auto done = lab_row(state, row, entry)) return *done;
  auto& open = state.versions.back();
  if (row.kind == kind::kQuery)
    return with<QueryFact>(row, entry.fact, [&](QueryFact fact) {
      state.queries.push_back(std::make_shared<const LoggedQuery>(
          LoggedQuery{row.sequence, row.version, std::move(fact)}));
      return Status{};
    });
  if (row.kind == kind::kEvidence)
    return with<EvidenceFact>(row, entry.fact, [&](EvidenceFact fact) {
      open.evidence = std::move(fact);
      open.evidence_sequence = row.sequence;
      open.hypothesis.reset();
      state.last_result = fmt::format("{}: evidence written", open.id.text());
      return Status{};
    });
  if (row.kind == kind::kHypothesis)
    return with<Hypothesis>(row, entry.fact, [&](Hypothesis hypothesis) {
      open.hypothesis = std::move(hypothesis);
      state.last_result = fmt::format("{}: hypothesis written", open.id.text());
      return Status{};
    });
  if (row.kind == kind::kGate && !entry.event) return fold::without_event(row);
  if (row.kind == kind::kGate)
    return with<GateFact>(row, entry.fact, [&](const GateFact& fact) {
      return apply_gate(state, row, *entry.event, fact);
    });
  if (row.kind == kind::kExtended)
    return with<ExtendedFact>(
        row, entry.fact, [&](const ExtendedFact& fact) { return apply_extended(state, fact); });
  if (row.kind == kind::kEnvironment)
    return with<Environment>(row, entry.fact, [&](Environment environment) {
      state.environment = std::move(environment);
      return Status{};
    });
  if (row.kind == kind::kReport)
    return with<ReportFact>(row, entry.fact, [&](ReportFact fact) {
      state.ledger_head = std::move(fact.ledger_head);
      state.last_result = "reports written";
      return Status{};
    });
  if (row.kind == kind::kAnalysis)
    return with<AnalysisFact>(row, entry.fact, [&](const AnalysisFact& fact) {
      state.last_result = fmt::format("{}: {} answered", row.version.text(), fact.tool);
      return Status{};
    });
  return unreadable(row, {ErrorCode::internal, "unknown kind of row", ""});
}

}  // namespace

Status apply(RunState& state, const LedgerRow& row) {
  const auto json = markdown::parsed_json(row.payload);
  if (json.is_discarded()) return unreadable(row, {ErrorCode::internal, "not JSON", ""});
  auto entry = decode_stored<Entry>(json);
  if (!entry) return unreadable(row, entry.error());

  state.sequence = row.sequence;
  if (row.kind == kind::kCreated) {
    state.moved = row.sequence;
    auto created = with<CreatedFact>(row, entry->fact, [&](CreatedFact fact) {
      return apply_created(state, row, std::move(fact));
    });
    if (!created) return created;
  } else {
    if (state.versions.empty())
      return unreadable(row, {ErrorCode::internal, "the run does not begin with its contract", ""});
    if (entry->event) {
      const auto next = stage_after(state.open(), *entry->event);
      if (!next) return unreadable(row, next.error());
      state.versions.back().stage = *next;
      // A failed build leaves the kernel that is being measured in place.
      if (*entry->event != Event::build_failed) state.moved = row.sequence;
    }
    if (row.kind == kind::kExtended) state.moved = row.sequence;
    if (auto applied = apply_fact(state, row, *entry); !applied) return applied;
  }
  for (const auto& path : entry->removed) {
    state.artifacts.erase(path);
    state.file_rows[path] = row.sequence;
  }
  add_written(state, row, entry->artifacts);
  return {};
}

void add_written(RunState& state, const LedgerRow& written,
                 const std::vector<ArtifactRef>& artifacts) {
  state.last_row = written;
  state.last_row.payload.clear();
  for (const auto& artifact : artifacts) {
    state.artifacts[artifact.path] = artifact.digest;
    state.file_rows[artifact.path] = written.sequence;
  }
}

}  // namespace ratchet
