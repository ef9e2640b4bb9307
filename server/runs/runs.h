#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"
#include "server/facts/knowledge.h"
#include "server/runs/records/analysis.h"
#include "server/runs/records/method_registry.h"
#include "server/runs/records/review_entry.h"
#include "server/runs/records/run_prose.h"
#include "server/runs/records/run_views.h"
#include "server/runs/records/search_plan.h"
#include "server/runs/records/search_requests.h"
#include "server/runs/records/stage_machine.h"
#include "server/runs/rules/branch_choice.h"
#include "server/runs/search_views.h"

namespace ratchet {

struct NewRun {
  Contract contract;
  Environment environment;
  Candidate v0;
  std::vector<Reason> warnings;
  std::filesystem::path output_dir;
  bool overwrite = false;  ///< the caller confirmed a non-empty output directory
  std::string secret;      ///< seeds are derived from it; never shown
  SearchPlan search;
  std::optional<ForkOrigin> forked_from;
};

/// Leave to do one measuring step: everything the step needs, as it stood when leave was given.
/// Recording with it fails with `conflict` when the version moved on meanwhile.
struct Permit {
  RunId run;
  VersionId version;
  Event event;
  std::int64_t sequence = 0;  ///< last ledger row seen
  Contract contract;
  std::string secret;
  std::optional<Candidate> candidate;  ///< of the open version, once built
  /// Kernel of the last correct version before it, to compare with. Empty for v0, and for a
  /// benchmark where it is v0, which then stands in `v0`.
  std::optional<Candidate> parent;
  /// v0's kernel, where it is another one than `candidate` and `parent`.
  std::optional<Candidate> v0;
  std::optional<Profile> profile;  ///< of the open version, once profiled
  /// For an exploration: the kernel to beat, that of the run's best version, and which it is.
  std::optional<Candidate> incumbent;
  VersionId incumbent_version;
  std::vector<std::string> methods;  ///< accepted for the version
  SearchPlan search;
};

/// A version to start another run from: its run's contract with the version's kernel as v0.
struct ForkSource {
  ForkOrigin origin;
  Contract contract;
  SearchPlan search;
};

/// How a state directory is opened.
struct RunsOptions {
  bool durable = true;  ///< false gives up fsync of the ledger: for tests only
};

/// All runs of one state directory: contract, ledger, gate and artifacts.
///
/// The ledger is the truth; files in the output directory are renderings. Every step first asks the
/// gate (`permit`), is then measured outside, and is recorded whole or not at all.
/// Thread rule: safe from several threads and several processes on one state directory.
/// Errors: `wrong_stage` with the tool to call next, `drift` naming the changed file, `conflict`
/// when another call moved the version on, `not_found` for unknown runs and versions.
class Runs {
 public:
  static Result<std::unique_ptr<Runs>> open(const std::filesystem::path& state_dir,
                                            RunsOptions options = {});
  virtual ~Runs() = default;

  virtual Result<RunView> create(const NewRun& run) = 0;
  virtual Result<RunStatus> status(const RunId& run) = 0;
  virtual Result<RunList> list(int limit, const std::optional<std::string>& cursor) = 0;
  virtual Result<ArtifactAnswer> record_environment(const RunId& run,
                                                    const Environment& environment) = 0;

  virtual Result<Permit> permit(const RunId& run, Event event,
                                std::optional<VersionId> version = {}) = 0;
  virtual Result<RunView> record_build(const Permit& permit, const Candidate& candidate,
                                       const std::optional<std::string>& note) = 0;
  virtual Result<RunView> record_correctness(const Permit& permit,
                                             const CorrectnessReport& report) = 0;
  virtual Result<RunView> record_profile(const Permit& permit, const Profile& profile) = 0;
  virtual Result<ArtifactAnswer> record_benchmark(const Permit& permit,
                                                  const BenchmarkReport& report) = 0;

  /// Advice about the open version's kernel; never changes the stage.
  virtual Result<ArtifactAnswer> record_sanitizer(const Permit& permit,
                                                  const SanitizerReport& report) = 0;
  /// Any version that was built; the open one by default. For tools that change no stage.
  virtual Result<RunSubject> subject(const RunId& run, std::optional<VersionId> version) = 0;
  /// Records what such a tool found, with its files. Never changes the stage.
  virtual Result<ArtifactAnswer> record_analysis(const RunSubject& subject,
                                                 const AnalysisFact& fact,
                                                 const std::vector<AnalysisFile>& files) = 0;

  /// What the run is about and what its newest profile says, for ranking knowledge.
  virtual Result<QuerySituation> query_situation(const RunId& run) = 0;
  /// `purpose` is "kernel", "bottleneck" or empty. Never changes the stage.
  virtual Status record_query(const RunId& run, const std::string& query,
                              const std::string& purpose, const QueryAnswer& answer) = 0;
  virtual Result<ArtifactAnswer> write_evidence(const RunId& run,
                                                const EvidenceRequest& request) = 0;
  virtual Result<ArtifactAnswer> write_hypothesis(const RunId& run,
                                                  const Hypothesis& hypothesis) = 0;

  virtual Result<GateAnswer> check_gate(const RunId& run, bool final_gate, bool abandon) = 0;
  virtual Result<RunView> extend(const RunId& run, int iterations) = 0;
  virtual Result<ArtifactAnswer> write_report(const RunId& run,
                                              const std::string& retrospective) = 0;

  virtual Result<AuditReport> audit(const RunId& run) = 0;

  /// Errors: `wrong_stage` for a version without a correct kernel, `not_permitted` for a masked
  /// one.
  virtual Result<ForkSource> fork_source(const ForkOrigin& origin) = 0;
  /// Correct, unmasked versions with their source texts, in the order asked.
  virtual Result<std::vector<Candidate>> kernels_of(const RunId& run,
                                                    const std::vector<VersionId>& versions) = 0;

  /// The registry; with a run also triggers, budget and what excludes a method there.
  virtual Result<MethodList> methods(const std::optional<RunId>& run) = 0;
  /// A proposal that breaks a rule is an answer, not an error; nothing is recorded then.
  virtual Result<ProposalAnswer> propose_methods(const RunId& run,
                                                 const std::vector<ProposedMethod>& methods) = 0;
  /// Decides the champion (see branch_choice.h) and makes it the version's kernel, checked. Where
  /// no branch works, and not for compiler errors alone, a retry is spent.
  virtual Result<BranchesAnswer> record_branches(const Permit& permit, BranchesFact found) = 0;
  /// Draws the attribution (see attribution.h).
  virtual Result<AblationAnswer> record_ablation(const Permit& permit, AblationFact found) = 0;
  /// What a disassembler saw of a version's binary. Never changes the stage.
  virtual Status record_signatures(const RunId& run, VersionId version,
                                   const SignatureFact& seen) = 0;
  virtual Result<ArtifactAnswer> record_dispatch(const Permit& permit, DispatchFact found) = 0;

  virtual Result<MemoryAnswer> read_memory(const RunId& run, std::optional<VersionId> version,
                                           const std::optional<std::string>& field) = 0;
  /// v0, the best and the open version cannot be masked.
  virtual Result<MaskAnswer> mask(const RunId& run, const std::vector<VersionId>& versions,
                                  bool mask, const std::string& reason) = 0;
  /// Masks half of the versions that may be masked, drawn by a recorded seed.
  virtual Result<MaskAnswer> restart_partial(const RunId& run) = 0;

  virtual Result<ReviewAnswer> define_acceptance(const RunId& run,
                                                 const std::vector<AcceptancePair>& pairs) = 0;
  virtual Result<ReviewAnswer> review(const RunId& run, const ReviewRequest& request) = 0;
};

}  // namespace ratchet
