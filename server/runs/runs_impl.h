#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/runs/ledger/run_store.h"
#include "server/runs/runs.h"

namespace ratchet {

/// `Runs` over a `RunStore`. Its methods stand in runs.cpp (create, look, extend, report),
/// steps.cpp (permit and record), gates.cpp (prose, gate, audit), search.cpp and memory.cpp.
class RunsImpl final : public Runs {
 public:
  explicit RunsImpl(std::unique_ptr<RunStore> store) : store_(std::move(store)) {}

  Result<RunView> create(const NewRun& run) override;
  Result<RunStatus> status(const RunId& run) override;
  Result<RunList> list(int limit, const std::optional<std::string>& cursor) override;
  Result<ArtifactAnswer> record_environment(const RunId& run,
                                            const Environment& environment) override;

  Result<Permit> permit(const RunId& run, Event event, std::optional<VersionId> version) override;
  Result<RunView> record_build(const Permit& permit, const Candidate& candidate,
                               const std::optional<std::string>& note) override;
  Result<RunView> record_correctness(const Permit& permit,
                                     const CorrectnessReport& report) override;
  Result<RunView> record_profile(const Permit& permit, const Profile& profile) override;
  Result<ArtifactAnswer> record_benchmark(const Permit& permit,
                                          const BenchmarkReport& report) override;

  Result<ArtifactAnswer> record_sanitizer(const Permit& permit,
                                          const SanitizerReport& report) override;
  Result<RunSubject> subject(const RunId& run, std::optional<VersionId> version) override;
  Result<ArtifactAnswer> record_analysis(const RunSubject& subject, const AnalysisFact& fact,
                                         const std::vector<AnalysisFile>& files) override;

  Result<QuerySituation> query_situation(const RunId& run) override;
  Status record_query(const RunId& run, const std::string& query, const std::string& purpose,
                      const QueryAnswer& answer) override;
  Result<ArtifactAnswer> write_evidence(const RunId& run, const EvidenceRequest& request) override;
  Result<ArtifactAnswer> write_hypothesis(const RunId& run, const Hypothesis& hypothesis) override;

  Result<GateAnswer> check_gate(const RunId& run, bool final_gate, bool abandon) override;
  Result<RunView> extend(const RunId& run, int iterations) override;
  Result<ArtifactAnswer> write_report(const RunId& run, const std::string& retrospective) override;

  Result<AuditReport> audit(const RunId& run) override;

  Result<ForkSource> fork_source(const ForkOrigin& origin) override;
  Result<std::vector<Candidate>> kernels_of(const RunId& run,
                                            const std::vector<VersionId>& versions) override;
  Result<MethodList> methods(const std::optional<RunId>& run) override;
  Result<ProposalAnswer> propose_methods(const RunId& run,
                                         const std::vector<ProposedMethod>& methods) override;
  Result<BranchesAnswer> record_branches(const Permit& permit, BranchesFact found) override;
  Result<AblationAnswer> record_ablation(const Permit& permit, AblationFact found) override;
  Status record_signatures(const RunId& run, VersionId version, const SignatureFact& seen) override;
  Result<ArtifactAnswer> record_dispatch(const Permit& permit, DispatchFact found) override;

  Result<MemoryAnswer> read_memory(const RunId& run, std::optional<VersionId> version,
                                   const std::optional<std::string>& field) override;
  Result<MaskAnswer> mask(const RunId& run, const std::vector<VersionId>& versions, bool mask,
                          const std::string& reason) override;
  Result<MaskAnswer> restart_partial(const RunId& run) override;

  Result<ReviewAnswer> define_acceptance(const RunId& run,
                                         const std::vector<AcceptancePair>& pairs) override;
  Result<ReviewAnswer> review(const RunId& run, const ReviewRequest& request) override;

 private:
  /// State for a step on the open version, after the stage and the disk were checked and missing
  /// files written again. The caller holds the run's lock.
  Result<StatePtr> ready_for(const RunId& run, Event event);
  /// Refuses what stops the step, and writes files that are missing again. A step on the open
  /// version looks at what it works on; a benchmark, a dispatcher and a report, which speak of all
  /// versions, read all files.
  Status check_disk(const RunState& state, Event event);
  /// Leave for a step on `subject`, with what the step works on.
  Result<Permit> make_permit(const RunState& state, VersionId subject, Event event);
  /// State for recording: the version must not have moved since leave was given.
  Result<StatePtr> still_valid(const Permit& permit, Event granted);
  Result<GateAnswer> abandon_version(const RunState& state);
  Result<GateAnswer> pass_gate(const RunState& state, Event event);
  Result<MaskAnswer> record_mask(const RunState& state, const MaskFact& fact);

  const std::unique_ptr<RunStore> store_;
};

/// Where the run stands, for an answer; `allowed` is narrowed by retries and the last version.
[[nodiscard]] RunView view_of(const RunState& state);

/// `view_of` with absolute paths of the files that belong to the answer.
[[nodiscard]] ArtifactAnswer artifact_answer(const RunState& state,
                                             const std::vector<std::string>& paths);

/// Branches of the run that work and were not taken, one line each; masked versions left out.
[[nodiscard]] std::vector<std::string> frontier_of(const RunState& state);

/// What is said of a version that is withheld.
[[nodiscard]] Error masked_version(VersionId id);

/// A refusal of the gate, with the one way on that is left where all retries are used up.
[[nodiscard]] Error refusal(const RunState& state, Error error);

/// One sentence: what to do now.
[[nodiscard]] std::string next_step(const RunState& state);

}  // namespace ratchet
