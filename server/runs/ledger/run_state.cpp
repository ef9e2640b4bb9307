#include "server/runs/ledger/run_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/runs/ledger/fold.h"
#include "server/runs/records/analysis.h"

namespace ratchet {

Error fold::unreadable(const LedgerRow& row, const Error& why) {
  return {ErrorCode::internal,
          fmt::format("ledger row {} of run {} ({}, schema {}) cannot be read: {}", row.sequence,
                      row.run.text, row.kind, row.schema, why.message),
          "It may come from a newer ratchet: use that one."};
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
  version.opened_sequence = state.sequence;
  state.versions.push_back(std::move(version));
}

void forget_measurements(VersionState& version) {
  version.correctness.reset();
  version.profile.reset();
  version.evidence.reset();
  version.hypothesis.reset();
  version.benchmark.reset();
  version.ablation.reset();
}

Status apply_created(RunState& state, const LedgerRow& row, CreatedFact fact) {
  state.run = row.run;
  state.created = row.time;
  state.environment = fact.environment;
  state.iterations = fact.contract.iterations;
  open_version(state, VersionId{0});
  auto& v0 = state.versions.back();
  v0.build = fact.v0;
  v0.built_at = row.time;
  v0.stage = Stage::built;
  state.contract = std::move(fact);
  note_attempt(state, row, Event::submitted, "built from the contract's kernel");
  return {};
}

Status apply_build(RunState& state, const LedgerRow& row, Event event, BuildFact fact) {
  auto& version = state.versions.back();
  if (fact.note) version.notes.push_back(*fact.note);
  if (event == Event::build_failed) {
    const auto errors = fact.candidate.build.errors.size();
    note_attempt(state, row, event, fmt::format("did not build ({} compiler errors)", errors));
    state.attempts.back().source_digest = fact.source_blob;
    return {};
  }
  forget_measurements(version);
  version.build = std::move(fact);
  version.built_at = row.time;
  note_attempt(state, row, event, "built");
  return {};
}

Status apply_correctness(RunState& state, const LedgerRow& row, Event event,
                         CorrectnessReport report) {
  auto& version = state.versions.back();
  std::string outcome = report.passed
                            ? fmt::format("correct on {} checks", report.cases.size())
                            : fmt::format("incorrect: {}", report.fault ? report.fault->message
                                                           : report.reasons.empty()
                                                               ? std::string("see correctness.md")
                                                               : report.reasons.front().message);
  version.correctness = std::move(report);
  if (event == Event::check_failed) ++version.retries_used;
  note_attempt(state, row, event, std::move(outcome));
  return {};
}

Status apply_profile(RunState& state, const LedgerRow& row, Event event, Profile profile) {
  auto& version = state.versions.back();
  std::string outcome =
      event == Event::profile_invalid
          ? fmt::format("invalid timing: {}", profile.fault ? profile.fault->message
                                              : profile.reasons.empty()
                                                  ? std::string("no reason was given")
                                                  : profile.reasons.front().message)
          : fmt::format("{}, median {:.1f} ns, {}-bound", name_of(profile.verdict),
                        profile.timing.median.value, name_of(profile.bound));
  version.profile = std::move(profile);
  version.profile_sequence = row.sequence;
  version.profiled_at = row.time;
  version.evidence.reset();
  version.hypothesis.reset();
  version.ablation.reset();
  if (event == Event::profile_invalid) ++version.retries_used;
  note_attempt(state, row, event, std::move(outcome));
  return {};
}

Status apply_benchmark(RunState& state, const LedgerRow& row, BenchmarkFact fact) {
  for (auto& version : state.versions)
    if (version.id == row.version) version.benchmark = fact.report;
  state.last_result =
      fmt::format("{}: benchmarked against {} rows", row.version.text(), fact.report.rows.size());
  if (fact.final_report) {
    state.final_benchmark_version = row.version;
    state.final_benchmark = std::move(fact);
  }
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
  state.last_result = fmt::format("the run goes on to v{}", fact.iterations);
  auto& last = state.versions.back();
  if (last.stage == Stage::finished)
    last.stage = last.abandoned ? Stage::abandoned
                                : (last.hypothesis ? Stage::hypothesised : Stage::evidenced);
  if (fact.opens) open_version(state, *fact.opens);
  return {};
}

Status apply_fact(RunState& state, const LedgerRow& row, const Entry& entry) {
  if (auto done = fold::search_row(state, row, entry)) return *done;
  auto& open = state.versions.back();
  const bool has_outcome = row.kind == kind::kBuild || row.kind == kind::kCorrectness ||
                           row.kind == kind::kProfile || row.kind == kind::kGate;
  if (has_outcome && !entry.event)
    return unreadable(row, {ErrorCode::internal, "it names no event", ""});
  if (row.kind == kind::kBuild)
    return with<BuildFact>(row, entry.fact, [&](BuildFact fact) {
      return apply_build(state, row, *entry.event, std::move(fact));
    });
  if (row.kind == kind::kCorrectness)
    return with<CorrectnessReport>(row, entry.fact, [&](CorrectnessReport report) {
      return apply_correctness(state, row, *entry.event, std::move(report));
    });
  if (row.kind == kind::kProfile)
    return with<Profile>(row, entry.fact, [&](Profile profile) {
      return apply_profile(state, row, *entry.event, std::move(profile));
    });
  if (row.kind == kind::kBenchmark)
    return with<BenchmarkFact>(row, entry.fact, [&](BenchmarkFact fact) {
      return apply_benchmark(state, row, std::move(fact));
    });
  if (row.kind == kind::kSanitizer)
    return with<SanitizerReport>(row, entry.fact, [&](const SanitizerReport& report) {
      state.last_result =
          fmt::format("{}: compute-sanitizer named {} places", row.version.text(),
                      report.findings.size() + static_cast<std::size_t>(report.dropped));
      return Status{};
    });
  if (row.kind == kind::kQuery)
    return with<QueryFact>(row, entry.fact, [&](QueryFact fact) {
      state.queries.push_back({row.sequence, row.version, std::move(fact)});
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
  if (row.kind == kind::kReport) {
    state.last_result = "reports written";
    return {};
  }
  if (row.kind == kind::kAnalysis)
    return with<AnalysisFact>(row, entry.fact, [&](const AnalysisFact& fact) {
      state.last_result = fmt::format("{}: {} answered", row.version.text(), fact.tool);
      return Status{};
    });
  return unreadable(row, {ErrorCode::internal, "unknown kind of row", ""});
}

}  // namespace

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
    return Error{ErrorCode::wrong_stage, "v0's kernel is the contract's and cannot be replaced",
                 "Call the tool that run_status names; create_run starts from another kernel."};
  auto next = advance(version.stage, event);
  if (next && is_v0 && *next == Stage::open) return Stage::built;
  return next;
}

Status apply(RunState& state, const LedgerRow& row) {
  auto json = Json::parse(row.payload, nullptr, false);
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
