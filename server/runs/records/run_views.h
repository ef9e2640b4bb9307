#pragma once

// Answers about runs: state, versions, the gate's verdict, lists and audits.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/core/lab_meter.h"
#include "server/facts/findings.h"
#include "server/runs/records/stage_machine.h"

namespace ratchet {

/// The current state of a run; part of every answer of a loop tool.
struct RunView {
  RunId run;
  VersionId version;
  Stage stage = Stage::open;
  std::vector<std::string> allowed;  ///< tools that may be called next

  static constexpr void fields(auto&& visit) {
    visit(required<&RunView::run>("Run id."), required<&RunView::version>("Open version."),
          required<&RunView::stage>("Its stage."),
          required<&RunView::allowed>("Tools that may be called next."));
  }
};

struct VersionRow {
  VersionId version;
  Stage stage = Stage::open;
  std::optional<Verdict> verdict;
  std::optional<double> median_ns, ci_low_ns, ci_high_ns;
  std::optional<double> speedup_vs_v0, speedup_vs_parent;
  std::optional<std::string> judged_on;
  std::optional<Bound> bound;
  bool degraded = false;
  int retries_used = 0;

  static constexpr void fields(auto&& visit) {
    using V = VersionRow;
    visit(required<&V::version>(), required<&V::stage>(),
          optional<&V::verdict>("Against its parent."), optional<&V::median_ns>("Median time, ns."),
          optional<&V::ci_low_ns>("95 % interval, low end, ns."),
          optional<&V::ci_high_ns>("High end, ns."), optional<&V::speedup_vs_v0>("v0 ÷ version."),
          optional<&V::speedup_vs_parent>("Parent ÷ version."),
          optional<&V::judged_on>("The values that the speed-ups are about, if not normal."),
          optional<&V::bound>("What limits it."),
          optional<&V::degraded>("Profiled without counters."),
          optional<&V::retries_used>("Failed checks so far."));
  }
  /// One line.
  [[nodiscard]] std::string text() const;
};

/// What a run took of labs, and how much it may.
struct LabAccount : LabUse, LabBudget {
  std::string lab;

  static constexpr void fields(auto&& visit) {
    visit(required<&LabAccount::lab>("Where the run measures."));
    LabUse::fields(visit);
    LabBudget::fields(visit);
  }
  /// "gpu3: 61.2 of 3600 s, 0.12 of 5 USD".
  [[nodiscard]] std::string text() const;
};

struct RunStatus : RunView {
  std::vector<VersionRow> versions;
  std::optional<VersionId> best;
  int iterations = 0;
  std::string output_dir;
  std::string contract_digest;
  std::vector<std::string> open_acceptance;
  std::vector<Reason> integrity;           ///< empty: chain and digests hold
  std::optional<std::string> ledger_head;  ///< of the chain over all runs, if it is whole
  std::optional<std::string> last_result;  ///< one line about the newest fact
  std::string next;                        ///< one sentence: what to do now
  std::string claim;                       ///< strong or weak
  std::vector<Reason> weaknesses;
  std::vector<Reason> stop;
  std::vector<std::string> methods;
  std::vector<std::string> frontier;
  std::vector<VersionId> masked;
  std::optional<std::string> headline;
  std::optional<LabAccount> labs;

  static constexpr void fields(auto&& visit) {
    using S = RunStatus;
    RunView::fields(visit);
    visit(required<&S::versions>("All versions so far."),
          optional<&S::best>("Fastest correct version."),
          required<&S::iterations>("N of the contract."),
          required<&S::output_dir>("Where artifacts are."),
          required<&S::contract_digest>("SHA-256 of the contract."),
          required<&S::open_acceptance>("Acceptance pairs not yet met."),
          required<&S::integrity>("Drift and broken links; empty is good."),
          optional<&S::ledger_head>("To keep, for ratchet audit --against."),
          optional<&S::last_result>("Newest fact."), required<&S::next>("What to do now."),
          required<&S::claim>("strong, or weak for the reasons below."), required<&S::weaknesses>(),
          required<&S::stop>("Stop conditions that hold; advice."),
          required<&S::methods>("Accepted for the open version."),
          required<&S::frontier>("Branches that work and were not taken."),
          required<&S::masked>("Versions withheld."),
          optional<&S::headline>("The result so far, and which comparison says so."),
          optional<&S::labs>("Time on labs, and the budget."));
  }
  /// A line a version; what is empty is left out. For `make_tool`.
  [[nodiscard]] std::string text(Json structured) const;
};

struct GateAnswer : RunView {
  bool passed = false;
  std::vector<Reason> reasons;
  std::optional<std::string> next;
  std::optional<std::string> hypothesis;

  static constexpr void fields(auto&& visit) {
    RunView::fields(visit);
    visit(required<&GateAnswer::passed>("Verdict."), required<&GateAnswer::reasons>("All at once."),
          optional<&GateAnswer::next>("What to do now."),
          optional<&GateAnswer::hypothesis>(
              "Whether the version met accept_if and reject_if of the hypothesis it tests."));
  }
};

struct ArtifactAnswer : RunView {
  std::vector<std::string> artifacts;  ///< absolute paths

  static constexpr void fields(auto&& visit) {
    RunView::fields(visit);
    visit(required<&ArtifactAnswer::artifacts>("Files written."));
  }
};

struct HypothesisAnswer : ArtifactAnswer {
  std::string evaluated;

  static constexpr void fields(auto&& visit) {
    ArtifactAnswer::fields(visit);
    visit(required<&HypothesisAnswer::evaluated>(
        "The conditions that the server read in accept_if and reject_if."));
  }
};

struct ReportAnswer : ArtifactAnswer {
  std::string headline;

  static constexpr void fields(auto&& visit) {
    ArtifactAnswer::fields(visit);
    visit(required<&ReportAnswer::headline>("The result, and which comparison says so."));
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

  static constexpr void fields(auto&& visit) {
    using R = RunSummary;
    visit(required<&R::run>(), required<&R::kernel>(), required<&R::device>(),
          required<&R::version>(), required<&R::stage>(), required<&R::created>("UTC."),
          required<&R::output_dir>());
  }
};

struct RunList {
  std::vector<RunSummary> runs;  ///< newest first
  std::optional<std::string> next_cursor;

  static constexpr void fields(auto&& visit) {
    visit(required<&RunList::runs>("Newest first."),
          optional<&RunList::next_cursor>("For the next page."));
  }
};

struct AuditReport {
  bool intact = false;
  std::int64_t rows = 0;
  std::vector<Reason> breaks;         ///< first break of the chain, then digests and renderings
  std::optional<std::string> ledger;  ///< what the chain over all runs covers
  std::optional<std::string> head;    ///< of that chain
  std::string rollback;  ///< what is known about the ledger as a whole having been put back

  static constexpr void fields(auto&& visit) {
    visit(required<&AuditReport::intact>(), required<&AuditReport::rows>(),
          required<&AuditReport::breaks>(), optional<&AuditReport::ledger>(),
          optional<&AuditReport::head>(), required<&AuditReport::rollback>());
  }
};

}  // namespace ratchet
