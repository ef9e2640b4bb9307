#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/core/storage.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"
#include "server/facts/knowledge.h"
#include "server/facts/suite_baselines.h"
#include "server/runs/records/analysis.h"
#include "server/runs/records/method_registry.h"
#include "server/runs/records/review_entry.h"
#include "server/runs/records/run_change.h"
#include "server/runs/records/run_prose.h"
#include "server/runs/records/run_views.h"
#include "server/runs/records/search_plan.h"
#include "server/runs/records/search_requests.h"
#include "server/runs/records/stage_machine.h"
#include "server/runs/rules/branch_choice.h"
#include "server/runs/search_views.h"

namespace ratchet {

class LabAccounts;
class RunStore;

struct NewRun {
  Contract contract;
  Environment environment;
  Candidate v0;
  std::vector<Reason> warnings;
  std::filesystem::path output_dir;  ///< absolute; see `Roots::output_folder`
  bool overwrite = false;  ///< the caller confirmed that the output directory is not empty
  std::string secret;      ///< seeds are derived from it; never shown
  SearchPlan search;
  std::optional<ForkOrigin> forked_from;
  std::optional<std::vector<SuiteBaseline>> suite_baselines;  ///< of the problem's suite
};

/// Permission for one measuring step, with a snapshot of its inputs. Recording the result fails
/// with `conflict` if the run has advanced in the meantime.
struct Permit {
  RunId run;
  VersionId version;
  Event event;
  std::int64_t sequence = 0;  ///< last ledger row of the snapshot
  Contract contract;
  std::string secret;
  std::optional<Candidate> candidate;  ///< of the open version, once built
  /// The kernel of the last correct version before it, to compare with. Empty for v0; in a
  /// benchmark also if it is v0, which is then in `v0`.
  std::optional<Candidate> parent;
  /// v0's kernel, if it is neither `candidate` nor `parent`.
  std::optional<Candidate> v0;
  /// For a profile: the best version before, and its kernel unless that is `parent` or `v0`.
  std::optional<VersionId> best_version;
  std::optional<Candidate> best;
  std::optional<Profile> profile;  ///< of the open version, once profiled
  /// For an exploration: the kernel to beat, which is that of the run's best version.
  std::optional<Candidate> incumbent;
  VersionId incumbent_version;
  std::vector<std::string> methods;  ///< accepted for the version
  SearchPlan search;
  /// As frozen; empty for a run from before they were.
  std::optional<std::vector<SuiteBaseline>> suite_baselines;
};

/// How a state directory is opened.
struct RunsOptions {
  bool durable = true;  ///< false skips fsync of the ledger: for tests only
  /// Socket of the machine's log, to which the ledger's heads are written; empty: to none.
  std::filesystem::path system_log = {};
};

/// All runs of one state directory: contract, ledger, gate and artifacts.
///
/// The ledger is authoritative; files in the output directory are rendered from it. Each measuring
/// step first gets a permit (`permit`), is then measured by the caller, and is recorded as a whole
/// or not at all. Thread rule: safe from several threads and several processes on one state
/// directory. Errors: `wrong_stage` with the tool to call next; `drift` with the changed file;
/// `conflict` if another call advanced the run; `not_found` for unknown runs and versions.
class Runs {
 public:
  static Result<std::unique_ptr<Runs>> open(const std::filesystem::path& state_dir,
                                            const RunsOptions& options = {});
  ~Runs();

  /// Calls `observer` after every recorded fact that wrote or removed files, on the thread that
  /// recorded it and under the run's lock: the observer may read runs but must not record. Only
  /// what this object records is reported, not what other processes do. Call once, before the
  /// object is used from several threads.
  void on_change(std::function<void(const RunChange&)> observer);

  Result<RunView> create(const NewRun& run);
  Result<RunStatus> status(const RunId& run);
  Result<RunList> list(int limit, const std::optional<std::string>& cursor);
  /// What the run wrote, as sorted paths in its output directory.
  Result<std::vector<std::string>> artifacts(const RunId& run);
  /// One of them, as recorded: from the ledger, whatever lies in the output directory now. Errors:
  /// also `not_permitted` for a file of a masked version.
  Result<std::string> artifact(const RunId& run, const std::string& path);
  Result<ArtifactAnswer> record_environment(const RunId& run, const Environment& environment);

  Result<Permit> permit(const RunId& run, Event event, std::optional<VersionId> version = {});
  /// Error: this source is the parent's but for comments, white space and names of its own.
  static Status differs_from_parent(const Permit& permit, std::string_view source);
  /// The name under which a submitted file is built: the caller's, where it fits the run.
  static std::string source_name(const Permit& permit, const std::string& submitted);
  /// Error: `create` would refuse this folder; `confirm` as `NewRun::overwrite`. Writes nothing.
  static Status usable_folder(const std::filesystem::path& folder, bool confirm);
  Result<RunView> record_build(const Permit& permit, const Candidate& candidate,
                               const std::optional<std::string>& note);
  Result<RunView> record_correctness(const Permit& permit, const CorrectnessReport& report);
  Result<RunView> record_profile(const Permit& permit, const Profile& profile);
  Result<ArtifactAnswer> record_benchmark(const Permit& permit, const BenchmarkReport& report);
  /// Findings about the open version's kernel; never changes the stage.
  Result<ArtifactAnswer> record_sanitizer(const Permit& permit, const SanitizerReport& report);
  /// The given built version, or the open one: input for tools that change no stage.
  Result<RunSubject> subject(const RunId& run, std::optional<VersionId> version);
  /// Records the result of such a tool, with its files. Never changes the stage.
  Result<ArtifactAnswer> record_analysis(const RunSubject& subject, const AnalysisFact& fact,
                                         const std::vector<AnalysisFile>& files);

  /// Language, architecture and newest findings of the run, for ranking knowledge.
  Result<QuerySituation> query_situation(const RunId& run);
  /// `purpose` is "kernel", "bottleneck" or empty. Never changes the stage.
  Status record_query(const RunId& run, const std::string& query, const std::string& purpose,
                      const QueryAnswer& answer);
  Result<ArtifactAnswer> write_evidence(const RunId& run, const EvidenceRequest& request);
  Result<HypothesisAnswer> write_hypothesis(const RunId& run, const Hypothesis& hypothesis);
  Result<GateAnswer> check_gate(const RunId& run, bool final_gate, bool abandon);
  Result<RunView> extend(const RunId& run, int iterations);
  /// What runs use of labs.
  LabAccounts& labs() { return *labs_; }
  Result<ReportAnswer> write_report(const RunId& run, const std::string& retrospective);

  /// Verifies a run, or every run, and the chain over all runs. `kept` are heads of the ledger that
  /// were kept outside, as `ledger_head` gave them: only they show that the ledger as a whole was
  /// put back to an earlier state.
  Result<AuditReport> audit(const std::optional<RunId>& run,
                            const std::vector<std::string>& kept = {});
  Result<std::string> ledger_head();
  /// The ledger with its lock files: evidence.
  [[nodiscard]] std::vector<Store> stores() const;
  /// Builds, by key, of runs that are not finished and have recorded something within a week:
  /// their next steps time these binaries.
  [[nodiscard]] std::set<std::string> needed_builds() const;

  /// Errors: `wrong_stage` for a version without a correct kernel, `not_permitted` for a masked
  /// one.
  Result<ForkSource> fork_source(const ForkOrigin& origin);
  /// Correct, unmasked versions with their source texts, in the given order.
  Result<std::vector<Candidate>> kernels_of(const RunId& run,
                                            const std::vector<VersionId>& versions);
  /// The registry; with a run also readings, budget and the methods excluded there.
  Result<MethodList> methods(const std::optional<RunId>& run);
  /// A proposal that breaks a rule is an answer with reasons, not an error, and is not recorded.
  Result<ProposalAnswer> propose_methods(const RunId& run,
                                         const std::vector<ProposedMethod>& methods);
  /// Chooses the champion (see branch_choice.h) and makes it the version's checked kernel. If no
  /// branch works, and not only because of compiler errors, a retry is used.
  Result<BranchesAnswer> record_branches(const Permit& permit, BranchesFact found);
  /// Computes the attribution (see attribution.h).
  Result<AblationAnswer> record_ablation(const Permit& permit, AblationFact found);
  /// Methods found in the machine code of a version. Never changes the stage.
  Status record_signatures(const RunId& run, VersionId version, const SignatureFact& seen);
  Result<ArtifactAnswer> record_dispatch(const Permit& permit, DispatchFact found);

  Result<MemoryAnswer> read_memory(const RunId& run, std::optional<VersionId> version,
                                   const std::optional<std::string>& field);
  /// v0, the best and the open version cannot be masked.
  Result<MaskAnswer> mask(const RunId& run, const std::vector<VersionId>& versions, bool mask,
                          const std::string& reason);
  /// Masks half of the versions that may be masked, drawn by a recorded seed.
  Result<MaskAnswer> restart_partial(const RunId& run);

  Result<ReviewAnswer> define_acceptance(const RunId& run,
                                         const std::vector<AcceptancePair>& pairs);
  Result<ReviewAnswer> review(const RunId& run, const ReviewRequest& request);

 private:
  explicit Runs(std::unique_ptr<RunStore> store);

  const std::unique_ptr<RunStore> store_;
  const std::unique_ptr<LabAccounts> labs_;
};

}  // namespace ratchet
