#include "server/runs/rules/gate_rules.h"

#include <fmt/format.h>

#include "server/runs/records/markdown.h"
#include "server/runs/rules/prose.h"

namespace ratchet {
namespace {

void need_step(std::vector<Reason>& reasons, const VersionState& version, bool done,
               const char* artifact, const char* tool) {
  if (done) return;
  const std::string path = fmt::format("{}/{}", version.id.text(), artifact);
  reasons.push_back({"step_missing", fmt::format("{} is missing; {} writes it", path, tool), path});
}

/// Every given case must have been checked, and every execution of it must have passed.
void check_cases(std::vector<Reason>& reasons, const RunState& state, const VersionState& version) {
  const auto& report = *version.correctness;
  for (const auto& one : state.contract.contract.cases) {
    if (one.hidden) continue;
    int passed = 0;
    int seen = 0;
    for (const auto& result : report.cases)
      if (!result.hidden && result.dims == one.dims) {
        ++seen;
        passed += result.passed ? 1 : 0;
      }
    if (seen > 0 && passed == seen) continue;
    reasons.push_back(
        {"case_unchecked",
         fmt::format("{} was not shown to be correct at the sizes {} ({} of {} executions "
                     "passed); check_correctness checks it again",
                     version.id.text(), markdown::dims_text(one.dims), passed, seen),
         version.id.text() + "/correctness.md"});
  }
}

/// A profile must hold the time, and the rates if the task declares its work.
void check_metrics(std::vector<Reason>& reasons, const RunState& state,
                   const VersionState& version) {
  std::vector<std::string> due{"median_ns"};
  if (state.contract.contract.work) {
    due.emplace_back("achieved_bytes_per_s");
    due.emplace_back("achieved_flops_per_s");
  }
  for (const auto& name : due)
    if (!version.profile->metrics.contains(name))
      reasons.push_back(
          {"profile_incomplete",
           fmt::format("the profile of {} lacks the metric {}; profile_kernel measures it again",
                       version.id.text(), name),
           version.id.text() + "/ncu_summary.md"});
}

void check_measurements(std::vector<Reason>& reasons, const RunState& state,
                        const VersionState& version) {
  const bool built = version.build.has_value();
  need_step(reasons, version, built, "build.md", "submit_kernel");
  need_step(reasons, version, version.correctness.has_value(), "correctness.md",
            "check_correctness");
  if (version.correctness && !version.correctness->passed)
    reasons.push_back({"not_correct",
                       fmt::format("{} failed its last correctness check", version.id.text()),
                       version.id.text() + "/correctness.md"});
  if (version.correctness && version.correctness->passed) check_cases(reasons, state, version);
  const bool timed =
      version.profile && version.stage != Stage::open && version.stage != Stage::built;
  need_step(reasons, version, timed, "ncu_summary.md", "profile_kernel");
  if (!built || !version.profile) return;
  check_metrics(reasons, state, version);
  const auto& record = version.build->candidate.build;
  if (version.profile->candidate_digest != record.binary_digest)
    reasons.push_back(
        {"profile_of_other_binary",
         fmt::format(
             "the profile of {} was measured with binary {}, but its kernel is now binary {}",
             version.id.text(), version.profile->candidate_digest, record.binary_digest),
         version.id.text() + "/ncu_summary.md"});
}

/// The rules of `write_kbs_evidence` again, the age of the evidence, and its confidence labels.
void check_evidence(std::vector<Reason>& reasons, const RunState& state,
                    const VersionState& version) {
  const std::string path = version.id.text() + "/kbs_evidence.md";
  for (auto& problem : evidence_problems(state, version, request_of(*version.evidence))) {
    problem.path = path;
    reasons.push_back(std::move(problem));
  }
  if (version.evidence_sequence <= version.profile_sequence)
    reasons.push_back(
        {"evidence_before_profile",
         fmt::format("{} was written before the current profile; write_kbs_evidence writes it anew",
                     path),
         path});
  const auto logged = resolve_labels(state, *version.evidence);
  for (std::size_t i = 0; i < logged.size(); ++i)
    if (version.evidence->selected[i].confidence != logged[i])
      reasons.push_back({"label_changed",
                         fmt::format("{}: the confidence of page {} is \"{}\" in the logged query, "
                                     "but \"{}\" in the evidence",
                                     path, version.evidence->selected[i].id, logged[i],
                                     version.evidence->selected[i].confidence),
                         path});
}

void check_prose(std::vector<Reason>& reasons, const RunState& state, const VersionState& version,
                 bool needs_hypothesis) {
  const std::string folder = version.id.text();
  need_step(reasons, version, version.evidence.has_value(), "kbs_evidence.md",
            "write_kbs_evidence");
  if (version.evidence) check_evidence(reasons, state, version);
  if (needs_hypothesis)
    need_step(reasons, version, version.hypothesis.has_value(), "hypothesis.txt",
              "write_hypothesis");
  if (version.hypothesis)
    for (auto& problem : hypothesis_problems(state, version, *version.hypothesis)) {
      problem.path = folder + "/hypothesis.txt";
      reasons.push_back(std::move(problem));
    }
}

void check_changed(std::vector<Reason>& reasons, const RunState& state,
                   const VersionState& version) {
  const auto* const parent = version.parent ? state.find(*version.parent) : nullptr;
  if (parent == nullptr || !parent->build || !version.build) return;
  if (parent->build->stripped_digest != version.build->stripped_digest) return;
  reasons.push_back({"kernel_unchanged",
                     fmt::format("the kernel of {} equals that of {} except for comments and white "
                                 "space; submit_kernel replaces it",
                                 version.id.text(), parent->id.text()),
                     version.id.text()});
}

void check_version(std::vector<Reason>& reasons, const RunState& state, const VersionState& version,
                   bool needs_hypothesis) {
  if (version.abandoned) return;
  check_measurements(reasons, state, version);
  check_prose(reasons, state, version, needs_hypothesis);
  check_changed(reasons, state, version);
}

void check_run(std::vector<Reason>& reasons, const RunState& state, const std::vector<Reason>& disk,
               const std::optional<Reason>& chain) {
  if (chain) reasons.push_back(*chain);
  reasons.insert(reasons.end(), disk.begin(), disk.end());
  if (!state.artifacts.contains("env_check.md"))
    reasons.push_back({"environment_missing",
                       "env_check.md is missing; check_env with run writes it", "env_check.md"});
}

}  // namespace

std::vector<Reason> transition_reasons(const RunState& state, const std::vector<Reason>& disk,
                                       const std::optional<Reason>& chain) {
  std::vector<Reason> reasons;
  if (state.at_last_version())
    reasons.push_back({"last_version",
                       fmt::format("{} is the last version, which is closed with final: true",
                                   state.open().id.text()),
                       std::nullopt});
  check_run(reasons, state, disk, chain);
  check_version(reasons, state, state.open(), !state.at_last_version());
  return reasons;
}

std::vector<Reason> final_reasons(const RunState& state, const std::vector<Reason>& disk,
                                  const std::optional<Reason>& chain) {
  std::vector<Reason> reasons;
  if (!state.at_last_version())
    reasons.push_back(
        {"not_last_version",
         fmt::format("{} is open, but the run goes on to v{}; final: true closes only the "
                     "last version",
                     state.open().id.text(), state.iterations),
         std::nullopt});
  check_run(reasons, state, disk, chain);
  for (const auto& version : state.versions)
    check_version(reasons, state, version, version.id.number < state.iterations);
  return reasons;
}

}  // namespace ratchet
