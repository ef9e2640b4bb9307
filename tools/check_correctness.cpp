#include <algorithm>

#include "kernels/lab.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct CheckArgs {
  RunId run;

  static constexpr void fields(auto&& visit) { visit(required<&CheckArgs::run>("Run id.")); }
};

/// A case without the details per output, which are in correctness.md.
struct CaseLine : CaseResult {
  double matched = 1;

  static constexpr void fields(auto&& visit) {
    using C = CaseLine;
    visit(required<&C::dims>("Sizes; empty for a hidden case that passed."),
          required<&C::seed>("Index of the secret seed."),
          required<&C::distribution>("Input distribution."),
          required<&C::passed>("All outputs within tolerance."),
          required<&C::max_abs>("Largest absolute error."),
          required<&C::max_rel>("Largest relative error."),
          required<&C::mismatches>("Elements out of tolerance."),
          required<&C::matched>("Smallest share of any output within tolerance."));
  }
};

struct CheckAnswer : RunView, CorrectnessReport {
  std::vector<CaseLine> lines;

  static constexpr void fields(auto&& visit) {
    using A = CheckAnswer;
    RunView::fields(visit);
    visit(required<&A::passed>("The verdict."),
          required("cases", &A::lines, "One per case, seed and distribution."),
          required<&A::reasons>("Why it failed."), required<&A::notes>("What weakens the claim."),
          optional<&A::fault>("Crash, timeout or device error of the kernel."));
  }
};

CheckAnswer answer_of(RunView view, const CorrectnessReport& report) {
  CheckAnswer answer{std::move(view), report, {}};
  for (const auto& one : report.cases) {
    CaseLine line{one};
    // The sizes of a hidden case stay hidden while it passes.
    if (one.hidden && one.passed) line.dims.clear();
    for (const auto& output : one.outputs) line.matched = std::min(line.matched, output.matched);
    answer.lines.push_back(std::move(line));
  }
  return answer;
}

}  // namespace

Tool check_correctness(const Services& services) {
  return make_tool<CheckArgs, CheckAnswer>(
      {.name = "check_correctness",
       .summary = "Check the open version against the reference on secret seeds, all cases and "
                  "several input distributions. A failure costs a retry.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop},
      [services](const CheckArgs& args, CallContext& call) -> Result<CheckAnswer> {
        auto permit = services.runs.permit(args.run, Event::checked);
        if (!permit) return permit.error();
        auto report =
            services.lab.check(permit->contract, *permit->candidate, permit->secret, call);
        if (!report) return report.error();
        auto view = services.runs.record_correctness(*permit, *report);
        if (!view) return view.error();
        return answer_of(*std::move(view), *report);
      });
}

}  // namespace ratchet
