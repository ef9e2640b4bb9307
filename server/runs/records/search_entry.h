#pragma once

// Ledger rows about the search: methods, branches, ablations, dispatchers.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/findings.h"
#include "server/runs/records/axis_budget.h"
#include "server/runs/records/evidence_entry.h"
#include "server/runs/records/search_requests.h"

namespace ratchet {

/// An accepted method with what the profile said for it.
struct ChosenMethod {
  std::string id;
  Axis axis = Axis::compute;
  int priority = 0;
  std::optional<double> strength;
  std::vector<MetricFact> readings;
  std::vector<SkippedMethod> skipped_higher;

  static constexpr void fields(auto&& visit) {
    using C = ChosenMethod;
    visit(required<&C::id>(), required<&C::axis>(), required<&C::priority>(),
          optional<&C::strength>("0..1, from the profile."), required<&C::readings>(),
          required<&C::skipped_higher>());
  }
};

struct MethodsFact {
  VersionId base;  ///< whose profile spoke
  AxisGaps gaps;
  AxisBudget budget;
  bool near_peak = false;
  std::vector<ChosenMethod> methods;

  static constexpr void fields(auto&& visit) {
    using M = MethodsFact;
    visit(required<&M::base>(), required<&M::gaps>(), required<&M::budget>(),
          required<&M::near_peak>(), required<&M::methods>());
  }
};

enum class BranchStatus { champion, frontier, build_failed, incorrect, failed, screened_out };
constexpr auto enum_names(BranchStatus) {
  using enum BranchStatus;
  return as_written<champion, frontier, build_failed, incorrect, failed, screened_out>();
}

/// One kernel of an exploration. Speedups are incumbent ÷ branch, from paired rounds.
struct BranchResult {
  std::string name;  ///< b1, b2, …
  Candidate candidate;
  std::string source_blob;
  std::string stripped_digest;
  std::optional<std::string> note;
  BranchStatus status = BranchStatus::frontier;
  std::optional<CorrectnessReport> correctness;
  std::optional<Timing> screened;
  std::optional<Comparison> screening;
  std::optional<Timing> timing;  ///< of the confirmation
  std::optional<Comparison> confirmation;
  int diff_lines = 0;  ///< lines that differ from the incumbent
  std::vector<Reason> reasons;
  std::optional<std::string> lab;  ///< that checked and screened it; empty: here

  static constexpr void fields(auto&& visit) {
    using B = BranchResult;
    visit(required<&B::name>(), required<&B::candidate>(), optional<&B::source_blob>(),
          optional<&B::stripped_digest>(), optional<&B::note>(), required<&B::status>(),
          optional<&B::correctness>(), optional<&B::screened>(), optional<&B::screening>(),
          optional<&B::timing>(), optional<&B::confirmation>(), required<&B::diff_lines>(),
          required<&B::reasons>(), optional<&B::lab>());
  }
};

/// An exploration. Source texts lie in blobs.
struct BranchesFact {
  VersionId incumbent;
  std::vector<BranchResult> branches;
  std::optional<std::string> champion;  ///< name; empty: none clears the noise
  std::string decision;                 ///< one sentence
  std::optional<std::map<std::string, std::vector<std::string>>> grid;  ///< of a sweep

  static constexpr void fields(auto&& visit) {
    using B = BranchesFact;
    visit(required<&B::incumbent>(), required<&B::branches>(), optional<&B::champion>(),
          required<&B::decision>(), optional<&B::grid>());
  }
};

/// What an ablation says of a method.
enum class MethodClass { effective, ineffective, implementation_failed, inconclusive };
constexpr auto enum_names(MethodClass) {
  using enum MethodClass;
  return as_written<effective, ineffective, implementation_failed, inconclusive>();
}

/// The kernel with some methods switched off, beside the whole one. Speedup: this ÷ whole.
struct AblatedBuild {
  std::vector<std::string> without;  ///< method ids
  BuildRecord build;
  bool correct = false;
  std::optional<Timing> timing;
  std::optional<Comparison> comparison;
  std::vector<Reason> reasons;
  std::optional<std::string> lab;  ///< that checked it; empty: here
  /// Of each round of the race, its time ÷ that of the whole kernel; 0 where either has none. What
  /// is said of several builds comes from it and is recorded; the rounds are not.
  std::vector<double> rounds;

  static constexpr void fields(auto&& visit) {
    using A = AblatedBuild;
    visit(required<&A::without>(), required<&A::build>(), required<&A::correct>(),
          optional<&A::timing>(), optional<&A::comparison>(), required<&A::reasons>(),
          optional<&A::lab>());
  }
};

struct MethodAttribution {
  std::string id;
  std::optional<double> delta_ns;      ///< without it − with it
  std::optional<double> delta_low_ns;  ///< 95 % interval
  std::optional<double> delta_high_ns;
  std::optional<double> alone_ns;  ///< all off − only this one on
  std::optional<double> alone_low_ns;
  std::optional<double> alone_high_ns;
  MethodClass verdict = MethodClass::inconclusive;
  std::string why;

  static constexpr void fields(auto&& visit) {
    using M = MethodAttribution;
    visit(required<&M::id>(), optional<&M::delta_ns>("Without it − with it."),
          optional<&M::delta_low_ns>("95 % interval."), optional<&M::delta_high_ns>(),
          optional<&M::alone_ns>("All off − only this one on."),
          optional<&M::alone_low_ns>("Its interval."), optional<&M::alone_high_ns>(),
          required("class", &M::verdict, ""), required<&M::why>());
  }
};

struct AblationFact {
  std::string candidate_digest;  ///< of the whole kernel
  Timing whole;
  std::vector<AblatedBuild> builds;
  std::vector<MethodAttribution> attribution;
  std::optional<double> interaction_ns;  ///< all off − whole, less the single deltas
  std::optional<double> interaction_low_ns;
  std::optional<double> interaction_high_ns;

  static constexpr void fields(auto&& visit) {
    using A = AblationFact;
    visit(required<&A::candidate_digest>(), required<&A::whole>(), required<&A::builds>(),
          required<&A::attribution>(), optional<&A::interaction_ns>(),
          optional<&A::interaction_low_ns>(), optional<&A::interaction_high_ns>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<ChosenMethod>();
extern template const FieldTable& table_of<MethodsFact>();
extern template const FieldTable& table_of<BranchResult>();
extern template const FieldTable& table_of<BranchesFact>();
extern template const FieldTable& table_of<AblatedBuild>();
extern template const FieldTable& table_of<MethodAttribution>();
extern template const FieldTable& table_of<AblationFact>();
}  // namespace ratchet::fields_detail
