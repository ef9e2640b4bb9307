#pragma once

// Answers about the search: methods, branches, attribution, memory, review.

#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/contract.h"
#include "server/facts/suite_baselines.h"
#include "server/runs/records/axis_budget.h"
#include "server/runs/records/run_views.h"
#include "server/runs/records/search_entry.h"
#include "server/runs/records/search_plan.h"
#include "server/runs/rules/acceptance.h"
#include "server/runs/rules/progress.h"

namespace ratchet {

/// A version to fork another run from: its run's contract with the version's kernel as v0.
struct ForkSource {
  ForkOrigin origin;
  Contract contract;
  SearchPlan search;
  std::optional<std::vector<SuiteBaseline>> suite_baselines;
};

struct MethodLine {
  std::string id;
  int priority = 0;
  std::optional<double> strength;
  std::optional<std::string> excluded;
  std::optional<std::string> title;
  std::optional<std::string> page;
  std::optional<std::string> trigger;
  std::optional<std::string> needs;
  std::optional<std::string> macro;

  static constexpr void fields(auto&& visit) {
    using M = MethodLine;
    visit(required<&M::id>(), required<&M::priority>("On its axis."),
          optional<&M::strength>("0..1; empty: not measured."),
          optional<&M::excluded>("Why not in this run."),
          optional<&M::title>("With axis or id, as what follows."),
          optional<&M::page>("Recipe: get_kbs_page."), optional<&M::trigger>("Metric: good … bad."),
          optional<&M::needs>("Least sm and features."),
          optional<&M::macro>("Switches it off for ablate."));
  }
};

struct MethodList {
  std::vector<MethodLine> methods;
  std::optional<VersionId> base;
  std::optional<AxisGaps> gaps;
  std::optional<AxisBudget> budget;
  std::optional<bool> near_peak;

  static constexpr void fields(auto&& visit) {
    using M = MethodList;
    visit(required<&M::methods>("By axis and priority."),
          optional<&M::base>("Version whose profile speaks."),
          optional<&M::gaps>("What each axis could still give."),
          optional<&M::budget>("Methods a proposal takes, by axis."),
          optional<&M::near_peak>("The binding roof is nearly reached."));
  }
};

struct ProposalAnswer : RunView {
  bool accepted = false;
  std::vector<Reason> reasons;
  std::vector<ChosenMethod> methods;
  std::optional<std::string> artifact;

  static constexpr void fields(auto&& visit) {
    using P = ProposalAnswer;
    RunView::fields(visit);
    visit(required<&P::accepted>(), required<&P::reasons>("All at once."),
          required<&P::methods>("With their strength."), optional<&P::artifact>("methods.json"));
  }
};

/// A branch in brief; branches.json has the details.
struct BranchLine {
  std::string name;
  BranchStatus status = BranchStatus::frontier;
  std::optional<double> median_ns;
  std::optional<double> speedup, ci_low, ci_high;
  bool confirmed = false;
  int diff_lines = 0;
  std::vector<Reason> reasons;
  std::optional<std::string> note;
  std::optional<std::string> lab;

  static constexpr void fields(auto&& visit) {
    using B = BranchLine;
    visit(required<&B::name>(), required<&B::status>(), optional<&B::note>("What it varies."),
          optional<&B::median_ns>(), optional<&B::speedup>("Incumbent ÷ branch, paired."),
          optional<&B::ci_low>("95 % interval."), optional<&B::ci_high>(),
          required<&B::confirmed>("By the second, longer comparison."),
          required<&B::diff_lines>("Lines unlike the incumbent's."),
          required<&B::reasons>("Why it does not work."),
          optional<&B::lab>("That checked and screened it."));
  }
};

struct BranchesAnswer : RunView {
  std::optional<std::string> champion;
  std::string decision;
  VersionId incumbent;
  std::vector<BranchLine> branches;
  std::vector<std::string> frontier;

  static constexpr void fields(auto&& visit) {
    using B = BranchesAnswer;
    RunView::fields(visit);
    visit(optional<&B::champion>("Now the version's kernel, checked."), required<&B::decision>(),
          required<&B::incumbent>(), required<&B::branches>(),
          required<&B::frontier>("Of the whole run."));
  }
};

struct AblationAnswer : RunView {
  std::vector<MethodAttribution> attribution;
  std::optional<double> interaction_ns;
  std::string artifact;

  static constexpr void fields(auto&& visit) {
    using A = AblationAnswer;
    RunView::fields(visit);
    visit(required<&A::attribution>(),
          optional<&A::interaction_ns>("All off − whole, less the single deltas."),
          required<&A::artifact>("attribution.json"));
  }
};

/// One record of a run's memory; a masked one has nothing but its version.
struct MemoryRecord {
  static constexpr std::string_view kOrigin = "agents on this run";
  VersionId version;
  bool masked = false;
  Json record;

  static constexpr void fields(auto&& visit) {
    using M = MemoryRecord;
    visit(required<&M::version>(), required<&M::masked>(),
          required<&M::record>("memory/v<N>.json, or one field of it."));
  }
};

struct MemoryAnswer : RunView {
  std::vector<MemoryRecord> records;

  static constexpr void fields(auto&& visit) {
    RunView::fields(visit);
    visit(required<&MemoryAnswer::records>());
  }
};

struct MaskAnswer : RunView {
  std::vector<VersionId> masked;  ///< all masked versions
  std::optional<std::string> seed;

  static constexpr void fields(auto&& visit) {
    using M = MaskAnswer;
    RunView::fields(visit);
    visit(required<&M::masked>("All masked versions."),
          optional<&M::seed>("The draw follows from it."));
  }
};

struct ReviewAnswer : RunView {
  std::vector<ReviewedPair> pairs;
  bool promotable = false;
  std::optional<double> geomean;
  std::optional<double> lowest;
  std::string promotion;

  static constexpr void fields(auto&& visit) {
    using R = ReviewAnswer;
    RunView::fields(visit);
    visit(required<&R::pairs>("met, open or stalled."),
          required<&R::promotable>("Geomean >= 1.05, no case < 1.0."),
          optional<&R::geomean>("Over W, against v0."), optional<&R::lowest>("Worst case."),
          required<&R::promotion>("Why."));
  }
};

}  // namespace ratchet
