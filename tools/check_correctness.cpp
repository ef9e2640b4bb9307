#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/lab.h"
#include "server/core/figures.h"
#include "server/runs/runs.h"
#include "tools/all.h"

namespace ratchet {
namespace {

struct CheckArgs {
  RunId run;
  std::optional<double> search;

  static constexpr void fields(auto&& visit) {
    visit(required<&CheckArgs::run>(),
          optional<&CheckArgs::search>("So long, for bad input values.", {.min = 1, .max = 600}));
  }
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

std::string size_of(const CaseLine& line) {
  return line.dims.empty() ? "hidden sizes" : dims_text(line.dims, " ");
}

std::string failure_text(const CaseLine& line) {
  return fmt::format(
      "- FAILED {}, {}, seed {}: {} elements out of tolerance, max_abs {}, max_rel {}, matched "
      "{}\n",
      size_of(line), line.distribution, line.seed, line.mismatches, three_digits(line.max_abs),
      three_digits(line.max_rel), line.matched);
}

/// What passed at one size, with its worst errors.
struct Passed {
  std::string size;
  int count = 0;
  double abs = 0, rel = 0;
  std::string distribution;  ///< of the largest absolute error

  void add(const CaseLine& line) {
    ++count;
    rel = std::max(rel, line.max_rel);
    if (line.max_abs <= abs) return;
    abs = line.max_abs;
    distribution = line.distribution;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("- {}: {} passed, max_abs {}{}, max_rel {}\n", size, count,
                       three_digits(abs), distribution.empty() ? "" : " (" + distribution + ")",
                       three_digits(rel));
  }
};

/// Failures first and whole, then a line for each size that passed.
std::string text_of(const std::vector<CaseLine>& lines) {
  std::string text;
  std::vector<Passed> passed;
  for (const auto& line : lines) {
    if (!line.passed) {
      text += failure_text(line);
      continue;
    }
    const std::string size = size_of(line);
    auto found = std::ranges::find(passed, size, &Passed::size);
    if (found == passed.end()) found = passed.insert(found, Passed{.size = size});
    found->add(line);
  }
  for (const auto& one : passed) text += one.text();
  return text;
}

struct CheckAnswer : RunView, TimedReport {
  std::vector<CaseLine> lines;

  static constexpr void fields(auto&& visit) {
    using A = CheckAnswer;
    RunView::fields(visit);
    visit(required<&A::passed>("The verdict."),
          required("cases", &A::lines, "One per case, seed and distribution."),
          required<&A::reasons>("Why it failed."), required<&A::notes>("What weakens the claim."),
          optional<&A::fault>("Crash, timeout or device error of the kernel."),
          optional<&A::search>("What the search saw; what it keeps, later versions are asked."),
          required<&A::spent>("Where the time went."));
  }
  [[nodiscard]] std::string text(Json answer) const {
    for (const char* key : {"cases", "spent"}) answer.erase(key);
    if (reasons.empty()) answer.erase("reasons");
    if (notes.empty()) answer.erase("notes");
    Json verdict = Json::object();
    for (const char* key : {"passed", "reasons", "fault"})
      if (const auto found = answer.find(key); found != answer.end()) {
        verdict[key] = std::move(*found);
        answer.erase(found);
      }
    return readable_text(verdict, {"passed"}) + text_of(lines) + readable_text(answer) +
           spent_line(spent);
  }
};

CheckAnswer answer_of(RunView view, const TimedReport& report) {
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

/// The kernel that the run began with, unless that is the one that is checked.
const Candidate* yardstick_of(const Permit& permit) {
  if (permit.v0) return &*permit.v0;
  return permit.parent ? &*permit.parent : nullptr;
}

void add(SearchedValues found, CorrectnessReport& report) {
  report.elapsed_ms += 1000 * found.search.seconds;
  report.search = std::move(found.search);
  report.passed = report.passed && found.reasons.empty();
  if (found.fault) report.fault = std::move(found.fault);
  std::ranges::move(found.cases, std::back_inserter(report.cases));
  std::ranges::move(found.reasons, std::back_inserter(report.reasons));
}

Result<CheckAnswer> check(const Services& services, const CheckArgs& args, CallContext& call) {
  auto permit = services.runs.permit(args.run, Event::checked);
  if (!permit) return permit.error();
  auto report = services.lab.check(permit->contract, *permit->candidate, permit->secret, call);
  if (!report) return report.error();
  Stopwatch watch;
  watch.add(std::move(report->spent));
  if (args.search && report->passed) {
    watch.begin("searching");
    auto found = services.lab.search_values(
        permit->contract, {&*permit->candidate, yardstick_of(*permit), *args.search},
        permit->secret, call);
    if (!found) return found.error();
    add(*std::move(found), *report);
  }
  watch.begin("recording");
  auto view = services.runs.record_correctness(*permit, *report);
  if (!view) return view.error();
  report->spent = watch.stop();
  return answer_of(*std::move(view), *report);
}

}  // namespace

Tool check_correctness(const Services& services) {
  return make_tool<CheckArgs, CheckAnswer>(
      {.name = "check_correctness",
       .summary = "Check the open version against the reference on secret seeds, all cases and "
                  "several input distributions. A failure costs a retry.",
       .effect = Effect::uses_device,
       .toolset = Toolset::loop},
      [services](const CheckArgs& args, CallContext& call) { return check(services, args, call); });
}

}  // namespace ratchet
