#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/runs/run_store.h"
#include "server/runs/runs.h"

namespace ratchet {

/// `Runs` over a `RunStore`. Its methods stand in runs.cpp (create, look, extend, report),
/// steps.cpp (permit and record) and gates.cpp (prose, gate, audit).
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

  Status record_query(const RunId& run, const std::string& query, const std::string& purpose,
                      const QueryAnswer& answer) override;
  Result<ArtifactAnswer> write_evidence(const RunId& run, const EvidenceRequest& request) override;
  Result<ArtifactAnswer> write_hypothesis(const RunId& run, const Hypothesis& hypothesis) override;

  Result<GateAnswer> check_gate(const RunId& run, bool final_gate, bool abandon) override;
  Result<RunView> extend(const RunId& run, int iterations) override;
  Result<ArtifactAnswer> write_report(const RunId& run, const std::string& retrospective) override;

  Result<AuditReport> audit(const RunId& run) override;

 private:
  /// State for a step on the open version, after the stage and the disk were checked and missing
  /// files written again. The caller holds the run's lock.
  Result<StatePtr> ready_for(const RunId& run, Event event);
  /// State for recording: the version must not have moved since leave was given.
  Result<StatePtr> still_valid(const Permit& permit, Event granted);
  Result<GateAnswer> abandon_version(const RunState& state);
  Result<GateAnswer> pass_gate(const RunState& state, Event event);

  const std::unique_ptr<RunStore> store_;
};

/// Where the run stands, for an answer; `allowed` is narrowed by retries and the last version.
[[nodiscard]] RunView view_of(const RunState& state);

/// `view_of` with absolute paths of the files that belong to the answer.
[[nodiscard]] ArtifactAnswer artifact_answer(const RunState& state,
                                             const std::vector<std::string>& paths);

/// One sentence: what to do now.
[[nodiscard]] std::string next_step(const RunState& state);

}  // namespace ratchet
