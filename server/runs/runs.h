#pragma once

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
#include "server/runs/gate.h"

namespace ratchet {

/// Where a run stands: every answer of a loop tool carries these four.
struct RunView {
  RunId run;
  VersionId version;
  Stage stage = Stage::open;
  std::vector<std::string> allowed;  ///< tools that may be called next

  static constexpr auto fields() {
    return std::tuple{required("run", &RunView::run, "Run id."),
                      required("version", &RunView::version, "Open version."),
                      required("stage", &RunView::stage, "Its stage."),
                      required("allowed", &RunView::allowed, "Tools that may be called next.")};
  }
};

struct NewRun {
  Contract contract;
  Environment environment;
  Candidate v0;
  std::vector<Reason> warnings;
  std::filesystem::path output_dir;
  bool overwrite = false;  ///< the caller confirmed a non-empty output directory
  std::string secret;      ///< seeds are derived from it; never shown
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
};

struct VersionRow {
  VersionId version;
  Stage stage = Stage::open;
  std::optional<Verdict> verdict;
  std::optional<double> median_ns, ci_low_ns, ci_high_ns;
  std::optional<double> speedup_vs_v0;
  std::optional<double> speedup_vs_parent;
  std::optional<Bound> bound;
  bool degraded = false;
  int retries_used = 0;

  static constexpr auto fields() {
    using V = VersionRow;
    return std::tuple{required("version", &V::version, ""),
                      required("stage", &V::stage, ""),
                      optional("verdict", &V::verdict, "Against its parent."),
                      optional("median_ns", &V::median_ns, "Median time, ns."),
                      optional("ci_low_ns", &V::ci_low_ns, "95 % interval, low end, ns."),
                      optional("ci_high_ns", &V::ci_high_ns, "High end, ns."),
                      optional("speedup_vs_v0", &V::speedup_vs_v0, "v0 ÷ version."),
                      optional("speedup_vs_parent", &V::speedup_vs_parent, "Parent ÷ version."),
                      optional("bound", &V::bound, "What limits it."),
                      optional("degraded", &V::degraded, "Profiled without counters."),
                      optional("retries_used", &V::retries_used, "Failed checks so far.")};
  }
};

struct RunStatus : RunView {
  std::vector<VersionRow> versions;
  std::optional<VersionId> best;
  int iterations = 0;
  std::string output_dir;
  std::string contract_digest;
  std::vector<std::string> open_acceptance;
  std::vector<Reason> integrity;           ///< empty: chain and digests hold
  std::optional<std::string> last_result;  ///< one line on the newest fact, for a lost context
  std::string next;                        ///< one sentence: what to do now

  static constexpr auto fields() {
    using S = RunStatus;
    return std::tuple_cat(
        RunView::fields(),
        std::tuple{
            required("versions", &S::versions, "All versions so far."),
            optional("best", &S::best, "Fastest correct version."),
            required("iterations", &S::iterations, "N of the contract."),
            required("output_dir", &S::output_dir, "Where artifacts are."),
            required("contract_digest", &S::contract_digest, "SHA-256 of the contract."),
            required("open_acceptance", &S::open_acceptance, "Acceptance pairs not yet met."),
            required("integrity", &S::integrity, "Drift and broken links; empty is good."),
            optional("last_result", &S::last_result, "Newest fact."),
            required("next", &S::next, "What to do now.")});
  }
};

struct SelectedEvidence {
  std::string id;
  std::string query_id;
  std::string applies_because;

  static constexpr auto fields() {
    using S = SelectedEvidence;
    return std::tuple{required("id", &S::id, "Page id a query returned."),
                      required("query_id", &S::query_id, "The query that returned it."),
                      required("applies_because", &S::applies_because, "Why it fits here.",
                               {.max_length = 2000})};
  }
};

struct RejectedEvidence {
  std::string id;
  std::string reason;

  static constexpr auto fields() {
    return std::tuple{
        required("id", &RejectedEvidence::id, "Page id or idea."),
        required("reason", &RejectedEvidence::reason, "Why not.", {.max_length = 2000})};
  }
};

struct EvidenceRequest {
  std::vector<std::string> facts;  ///< metric names; the server fills in the values
  std::vector<SelectedEvidence> selected;
  std::vector<RejectedEvidence> rejected;
  std::string decision_link;

  static constexpr auto fields() {
    using E = EvidenceRequest;
    return std::tuple{
        required("facts", &E::facts, "Metric names from the profile; values are filled in.",
                 {.max_length = 64}),
        required("selected", &E::selected, "Documents that decide.", {.max_length = 32}),
        optional("rejected", &E::rejected, "Documents or ideas turned down.", {.max_length = 32}),
        required("decision_link", &E::decision_link, "Symptom → pattern → proposed change.",
                 {.max_length = 4000})};
  }
};

struct ExpectedMovement {
  std::string metric;
  std::string direction;
  std::optional<std::string> amount;

  static constexpr auto fields() {
    using X = ExpectedMovement;
    return std::tuple{
        required("metric", &X::metric, "A metric of the profile."),
        required("direction", &X::direction, "up, down or same."),
        optional("amount", &X::amount, "For example \"-40 %\".", {.max_length = 100})};
  }
};

struct Hypothesis {
  std::string category;
  std::string change;
  std::string rationale;
  std::vector<ExpectedMovement> expected;
  std::string risk;
  std::vector<std::string> evidence;
  std::string accept_if;
  std::string reject_if;

  static constexpr auto fields() {
    using H = Hypothesis;
    return std::tuple{
        required("category", &H::category, "One word: memory, compute, latency, …",
                 {.max_length = 64}),
        required("change", &H::change, "Exactly one change.", {.max_length = 2000}),
        required("rationale", &H::rationale, "Why it should help.", {.max_length = 4000}),
        required("expected", &H::expected, "Metrics that should move.", {.max_length = 16}),
        required("risk", &H::risk, "Correctness and performance risks.", {.max_length = 2000}),
        required("evidence", &H::evidence, "Page ids of the evidence.", {.max_length = 32}),
        required("accept_if", &H::accept_if, "", {.max_length = 1000}),
        required("reject_if", &H::reject_if, "", {.max_length = 1000})};
  }
};

struct GateAnswer : RunView {
  bool passed = false;
  std::vector<Reason> reasons;

  static constexpr auto fields() {
    return std::tuple_cat(RunView::fields(),
                          std::tuple{required("passed", &GateAnswer::passed, "Verdict."),
                                     required("reasons", &GateAnswer::reasons, "All at once.")});
  }
};

struct ArtifactAnswer : RunView {
  std::vector<std::string> artifacts;  ///< absolute paths

  static constexpr auto fields() {
    return std::tuple_cat(
        RunView::fields(),
        std::tuple{required("artifacts", &ArtifactAnswer::artifacts, "Files written.")});
  }
};

struct RunSummary {
  RunId run;
  std::string kernel;
  std::string device;
  VersionId version;
  Stage stage = Stage::open;
  std::string created;
  std::string output_dir;

  static constexpr auto fields() {
    using R = RunSummary;
    return std::tuple{required("run", &R::run, ""),
                      required("kernel", &R::kernel, ""),
                      required("device", &R::device, ""),
                      required("version", &R::version, ""),
                      required("stage", &R::stage, ""),
                      required("created", &R::created, "UTC."),
                      required("output_dir", &R::output_dir, "")};
  }
};

struct RunList {
  std::vector<RunSummary> runs;  ///< newest first
  std::optional<std::string> next_cursor;

  static constexpr auto fields() {
    return std::tuple{required("runs", &RunList::runs, "Newest first."),
                      optional("next_cursor", &RunList::next_cursor, "For the next page.")};
  }
};

struct AuditReport {
  bool intact = false;
  std::int64_t rows = 0;
  std::vector<Reason> breaks;  ///< first break of the chain, then digests and renderings

  static constexpr auto fields() {
    return std::tuple{required("intact", &AuditReport::intact, ""),
                      required("rows", &AuditReport::rows, ""),
                      required("breaks", &AuditReport::breaks, "")};
  }
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
};

}  // namespace ratchet
