#pragma once

// The payloads of ledger rows: one plain record with a field list for each kind of row.

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/contract.h"
#include "server/facts/environment.h"
#include "server/facts/findings.h"
#include "server/facts/suite_baselines.h"
#include "server/runs/records/evidence_entry.h"
#include "server/runs/records/review_entry.h"
#include "server/runs/records/search_entry.h"
#include "server/runs/records/search_plan.h"
#include "server/runs/records/stage_machine.h"

namespace ratchet {

/// A file below the output directory and the SHA-256 of what the server wrote there.
struct ArtifactRef {
  std::string path;
  std::string digest;

  static constexpr void fields(auto&& visit) {
    visit(required<&ArtifactRef::path>(), required<&ArtifactRef::digest>());
  }
};

/// The payload of every row: the event, the fact itself and the files rendered from it.
struct Entry {
  std::optional<Event> event;  ///< empty for facts that leave the stage as it is
  Json fact;
  std::vector<ArtifactRef> artifacts;
  std::vector<std::string> removed;  ///< artifacts that this fact invalidated

  static constexpr void fields(auto&& visit) {
    visit(optional<&Entry::event>(), required<&Entry::fact>(), required<&Entry::artifacts>(),
          required<&Entry::removed>());
  }
};

/// Kinds of rows.
namespace kind {
inline constexpr const char* kCreated = "created";
inline constexpr const char* kEnvironment = "environment";
inline constexpr const char* kBuild = "build";
inline constexpr const char* kCorrectness = "correctness";
inline constexpr const char* kProfile = "profile";
inline constexpr const char* kBenchmark = "benchmark";
inline constexpr const char* kSanitizer = "sanitizer";
inline constexpr const char* kQuery = "query";
inline constexpr const char* kEvidence = "evidence";
inline constexpr const char* kHypothesis = "hypothesis";
inline constexpr const char* kGate = "gate";
inline constexpr const char* kExtended = "extended";
inline constexpr const char* kReport = "report";
inline constexpr const char* kAnalysis = "analysis";
inline constexpr const char* kMethods = "methods";
inline constexpr const char* kBranches = "branches";
inline constexpr const char* kAblation = "ablation";
inline constexpr const char* kSignatures = "signatures";
inline constexpr const char* kMask = "mask";
inline constexpr const char* kAcceptance = "acceptance";
inline constexpr const char* kReview = "review";
inline constexpr const char* kDispatch = "dispatch";
inline constexpr const char* kLabTime = "lab_time";
inline constexpr const char* kBudget = "budget";
inline constexpr const char* kMoved = "moved";
}  // namespace kind

/// A submitted kernel. The candidate's source text is stored as the blob `source_blob`.
struct BuildFact {
  Candidate candidate;
  std::string source_blob;
  std::string stripped_digest;  ///< of the source without comments and white space
  std::optional<std::string> note;

  static constexpr void fields(auto&& visit) {
    using B = BuildFact;
    visit(required<&B::candidate>(), required<&B::source_blob>(), required<&B::stripped_digest>(),
          optional<&B::note>());
  }
};

/// The frozen contract, with v0. Source texts are stored as blobs.
struct CreatedFact {
  Contract contract;
  std::string contract_digest;  ///< of the contract with its source texts
  std::string kernel_blob;
  std::string reference_blob;
  std::string secret_digest;
  Environment environment;
  std::vector<Reason> warnings;
  std::string output_dir;
  BuildFact v0;
  SearchPlan search;
  std::optional<ForkOrigin> forked_from;
  /// Times that the problem's suite has of its own. Empty in runs that read them when asked.
  std::optional<std::vector<SuiteBaseline>> suite_baselines;

  static constexpr void fields(auto&& visit) {
    using C = CreatedFact;
    visit(required<&C::contract>(), required<&C::contract_digest>(), required<&C::kernel_blob>(),
          required<&C::reference_blob>(), required<&C::secret_digest>(),
          required<&C::environment>(), required<&C::warnings>(), required<&C::output_dir>(),
          required<&C::v0>(), optional<&C::search>(), optional<&C::forked_from>(),
          optional<&C::suite_baselines>());
  }
};

/// A run that another lab took over, which had been shown to equal the one that was lost.
struct MovedFact {
  std::string from, to;

  static constexpr void fields(auto&& visit) {
    visit(required<&MovedFact::from>(), required<&MovedFact::to>());
  }
};

struct BenchmarkFact {
  BenchmarkReport report;
  bool final_report = false;  ///< made after the final gate

  static constexpr void fields(auto&& visit) {
    visit(required<&BenchmarkFact::report>(), required<&BenchmarkFact::final_report>());
  }
};

/// A passed gate. If it is not the final one, `opens` is the next version.
struct GateFact {
  bool final_gate = false;
  std::optional<VersionId> opens;

  static constexpr void fields(auto&& visit) {
    visit(required<&GateFact::final_gate>(), optional<&GateFact::opens>());
  }
};

/// More iterations were granted. `opens` is set if the last version was abandoned, because then no
/// gate can open the next one.
struct ExtendedFact {
  int iterations = 0;
  std::optional<VersionId> opens;

  static constexpr void fields(auto&& visit) {
    visit(required<&ExtendedFact::iterations>(), optional<&ExtendedFact::opens>());
  }
};

struct ReportFact {
  std::string retrospective;
  std::string ledger_head;  ///< before this record; empty in those of older versions

  static constexpr void fields(auto&& visit) {
    visit(required<&ReportFact::retrospective>(), optional<&ReportFact::ledger_head>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<ArtifactRef>();
extern template const FieldTable& table_of<Entry>();
extern template const FieldTable& table_of<BuildFact>();
extern template const FieldTable& table_of<CreatedFact>();
extern template const FieldTable& table_of<BenchmarkFact>();
extern template const FieldTable& table_of<GateFact>();
extern template const FieldTable& table_of<ExtendedFact>();
extern template const FieldTable& table_of<ReportFact>();
}  // namespace ratchet::fields_detail
