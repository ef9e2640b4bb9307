#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/runs/ledger/ledger.h"
#include "server/runs/records/entry.h"
#include "server/runs/records/run_views.h"

namespace ratchet {

/// One build, check or profile; kept when it is superseded.
struct Attempt {
  std::int64_t sequence = 0;
  std::string time;
  VersionId version;
  std::string kind;
  Event event = Event::submitted;
  std::string source_digest;
  std::string outcome;  ///< one line
};

/// A version as of the last row.
struct VersionState {
  VersionId id;
  Stage stage = Stage::open;
  bool abandoned = false;  ///< stays true when the final gate closes the run
  int retries_used = 0;
  std::optional<VersionId> parent;  ///< last correct version before it; empty for v0
  std::optional<BuildFact> build;   ///< newest successful build; source text empty
  std::string built_at, profiled_at;
  std::optional<CorrectnessReport> correctness;  ///< of that build
  std::optional<Profile> profile;                ///< of that build
  std::int64_t profile_sequence = 0;
  std::int64_t evidence_sequence = 0;
  std::optional<EvidenceFact> evidence;
  std::optional<Hypothesis> hypothesis;
  std::optional<BenchmarkReport> benchmark;  ///< newest of this version
  std::vector<std::string> notes;            ///< given with submissions
  std::optional<MethodsFact> methods;        ///< accepted for it
  std::vector<BranchesFact> explorations;    ///< oldest first; source texts empty
  std::optional<AblationFact> ablation;      ///< of that build

  /// Its kernel passed the check and it was not abandoned: it can be a parent and the best version.
  [[nodiscard]] bool is_correct() const {
    return correctness && correctness->passed && stage >= Stage::correct && !abandoned;
  }
  /// No event is allowed any more, except after the run was extended.
  [[nodiscard]] bool is_closed() const {
    return stage == Stage::passed || stage == Stage::abandoned || stage == Stage::finished;
  }
};

struct LoggedQuery {
  std::int64_t sequence = 0;
  VersionId version;
  QueryFact fact;
};

/// A range of artifacts ordered by path: path → digest.
using ArtifactRange = std::ranges::subrange<std::map<std::string, std::string>::const_iterator>;

/// A run as of its last row: a pure fold over the rows, never stored.
///
/// Thread rule: a value; shared read-only between threads. Source texts are empty: the ledger
/// stores them as blobs under the digests held here.
struct RunState {
  RunId run;
  std::string created;
  CreatedFact contract;
  Environment environment;
  int iterations = 0;  ///< N, extensions included
  std::vector<VersionState> versions;
  /// Shared with earlier and later states of the run, which are copies of each other: a run may
  /// have thousands.
  std::vector<std::shared_ptr<const LoggedQuery>> queries;
  std::vector<Attempt> attempts;
  std::map<std::string, std::string> artifacts;   ///< path → digest of what should be on disk
  std::map<std::string, std::int64_t> file_rows;  ///< path → row that wrote or removed it last
  std::optional<BenchmarkFact> final_benchmark;
  std::optional<VersionId> final_benchmark_version;
  std::set<VersionId> masked;  ///< left out of every answer
  std::vector<AcceptancePair> acceptance;
  std::map<int, ReviewFact> reviews;  ///< newest of each pair, by its number
  std::map<std::string, std::map<std::string, std::string>> signatures;  ///< by binary, by method
  std::optional<DispatchFact> dispatch;
  std::vector<std::string> found_values;  ///< that searches found bad; oldest first
  LabUse lab_use;
  LabBudget lab_budget;
  std::int64_t sequence = 0;  ///< last row
  std::int64_t moved = 0;     ///< last row that changed a stage: older permits are void
  LedgerRow last_row;         ///< without payload
  std::string last_result;    ///< one line on the newest fact
  std::string ledger_head;    ///< of the chain over all runs, when the newest report was written

  [[nodiscard]] const VersionState& open() const { return versions.back(); }
  [[nodiscard]] const VersionState* find(VersionId id) const;
  [[nodiscard]] bool retries_exhausted() const {
    return open().retries_used >= contract.contract.retries;
  }
  [[nodiscard]] bool at_last_version() const { return open().id.number >= iterations; }
  /// Artifacts in a folder of the output directory, such as "v3", and below it.
  [[nodiscard]] ArtifactRange artifacts_in(const std::string& folder) const;
  /// Newest correct version before `id`; empty for v0.
  [[nodiscard]] std::optional<VersionId> parent_of(VersionId id) const;
};

/// The stage of a version after an event. v0 cannot be submitted again, because its kernel belongs
/// to the contract: an event that returns other versions to `open` returns v0 to `built`.
[[nodiscard]] Result<Stage> stage_after(const VersionState& version, Event event);

/// Folds in one more row. Pure.
/// Errors: `internal` if this program cannot read the payload.
[[nodiscard]] Status apply(RunState& state, const LedgerRow& row);

/// Completes a state whose last row was folded in before it was written: adds the row's seal and
/// the files rendered from it. The result equals folding in the written row.
void add_written(RunState& state, const LedgerRow& written,
                 const std::vector<ArtifactRef>& artifacts);

/// The verdict shown for a version: the profile's, or `incorrect` or `invalid`; empty before
/// either.
[[nodiscard]] std::optional<Verdict> verdict_of(const VersionState& version);

/// The comparison of a version with v0, which may be its parent. Null if there is none.
[[nodiscard]] const Comparison* against_v0(const VersionState& version);
[[nodiscard]] const Comparison* against_parent(const VersionState& version);
/// The input values that these comparisons are about, where the version's time depends on values:
/// the worst. Empty: normal ones, as its median is.
[[nodiscard]] std::optional<std::string> judged_on(const VersionState& version);

/// The comparison of a version with another one that took part in its profile, under whatever name.
/// Null if it did not.
[[nodiscard]] const Comparison* against(const VersionState& version, VersionId other);

/// The gain of a version over the best one before it: 0.02 is 2 %. It must be `faster` than v0, and
/// where the best one took part in its profile, than that one: the largest of many figures from
/// separate sessions would mostly be the luckiest. Profiles that were recorded before the best
/// version took part are compared by their figures. Empty if it does not take the best one's place.
[[nodiscard]] std::optional<double> gain_over(const VersionState& version,
                                              const VersionState& best);

/// The correct version that took the best one's place last, beginning with v0. `without`: as if
/// this version had no profile. Empty before v0 has a profile.
[[nodiscard]] std::optional<VersionId> best_version(const RunState& state,
                                                    std::optional<VersionId> without = {});

/// The hypothesis that a version tests, which is its parent's. Null for v0.
[[nodiscard]] const Hypothesis* tested_hypothesis(const RunState& state,
                                                  const VersionState& version);

/// What the run took of labs; empty for one without labs.
[[nodiscard]] std::optional<LabAccount> lab_account(const RunState& state);

/// Every metric of a profile: those of the whole call first, then those of each kernel.
[[nodiscard]] std::vector<MetricFact> all_metrics(const Profile& profile);

}  // namespace ratchet
