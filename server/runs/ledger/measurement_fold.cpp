// Rows about builds, checks, profiles, benchmarks and sanitizer runs.

#include <fmt/format.h>

#include <algorithm>

#include "server/core/figures.h"
#include "server/runs/ledger/fold.h"

namespace ratchet::fold {
namespace {

void forget_measurements(VersionState& version) {
  version.correctness.reset();
  version.profile.reset();
  version.evidence.reset();
  version.hypothesis.reset();
  version.benchmark.reset();
  version.ablation.reset();
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

void keep_values(RunState& state, const std::optional<ValueSearch>& search) {
  auto& all = state.found_values;
  for (const auto& values : search ? search->kept : std::vector<std::string>{})
    if (all.size() < kMostKeptValues && std::ranges::find(all, values) == all.end())
      all.push_back(values);
}

Status apply_correctness(RunState& state, const LedgerRow& row, Event event,
                         CorrectnessReport report) {
  auto& version = state.versions.back();
  std::string outcome = report.passed
                            ? fmt::format("correct on {} checks", report.cases.size())
                            : fmt::format("incorrect: {}", report.fault ? report.fault->text()
                                                           : report.reasons.empty()
                                                               ? std::string("see correctness.md")
                                                               : report.reasons.front().text());
  keep_values(state, report.search);
  version.correctness = std::move(report);
  if (event == Event::check_failed) ++version.retries_used;
  note_attempt(state, row, event, std::move(outcome));
  return {};
}

Status apply_profile(RunState& state, const LedgerRow& row, Event event, Profile profile) {
  auto& version = state.versions.back();
  std::string outcome =
      event == Event::profile_invalid
          ? fmt::format("invalid timing: {}", profile.fault ? profile.fault->text()
                                              : profile.reasons.empty()
                                                  ? std::string("no reason was given")
                                                  : profile.reasons.front().text())
          : fmt::format("{}, median {}, {}-bound", name_of(profile.verdict),
                        time_text(profile.timing.median.value), name_of(profile.bound));
  keep_values(state, profile.search);
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

}  // namespace

std::optional<Status> measurement_row(RunState& state, const LedgerRow& row, const Entry& entry) {
  const bool has_outcome =
      row.kind == kind::kBuild || row.kind == kind::kCorrectness || row.kind == kind::kProfile;
  if (has_outcome && !entry.event) return without_event(row);
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
  return std::nullopt;
}

}  // namespace ratchet::fold
