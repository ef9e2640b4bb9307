#include "tools/all.h"

#include <algorithm>
#include <cstdint>

namespace ratchet {
namespace {

struct CheckArgs {
  RunId run;

  static constexpr void fields(auto&& visit) { visit(required("run", &CheckArgs::run, "Run id.")); }
};

/// A case without its per-output details, which are in correctness.md.
struct CaseLine {
  Dims dims;
  int seed = 0;
  std::string distribution;
  bool passed = false;
  double max_abs = 0;
  double max_rel = 0;
  std::int64_t mismatches = 0;
  double matched = 1;

  static constexpr void fields(auto&& visit) {
    using C = CaseLine;
    visit(required("dims", &C::dims, ""), required("seed", &C::seed, "Index."),
          required("distribution", &C::distribution, ""), required("passed", &C::passed, ""),
          required("max_abs", &C::max_abs, ""), required("max_rel", &C::max_rel, ""),
          required("mismatches", &C::mismatches, ""),
          required("matched", &C::matched, "Least share of an output in tolerance."));
  }
};

struct CheckAnswer : RunView {
  bool passed = false;
  std::vector<CaseLine> cases;
  std::vector<Reason> reasons;
  std::vector<Reason> notes;
  std::optional<Fault> fault;

  static constexpr void fields(auto&& visit) {
    using A = CheckAnswer;
    RunView::fields(visit);
    visit(required("passed", &A::passed, "The judge's verdict."),
          required("cases", &A::cases, "One per case, seed and distribution."),
          required("reasons", &A::reasons, "Why it failed."),
          required("notes", &A::notes, "What weakens the claim."),
          optional("fault", &A::fault, "Crash, time-out or device error of the kernel."));
  }
};

CheckAnswer answer_of(RunView view, const CorrectnessReport& report) {
  CheckAnswer answer{std::move(view), report.passed, {},
                     report.reasons,  report.notes,  report.fault};
  for (const auto& c : report.cases) {
    // The sizes of a hidden case stay hidden while it passes.
    const Dims dims = c.hidden && c.passed ? Dims{} : c.dims;
    double matched = 1;
    for (const auto& output : c.outputs) matched = std::min(matched, output.matched);
    answer.cases.push_back(
        {dims, c.seed, c.distribution, c.passed, c.max_abs, c.max_rel, c.mismatches, matched});
  }
  return answer;
}

}  // namespace

Tool check_correctness(const Services& services) {
  return make_tool<CheckArgs, CheckAnswer>(
      {.name = "check_correctness",
       .summary = "Judge the open version against the reference on secret seeds, all cases and "
                  "several distributions. A failure costs a retry.",
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
