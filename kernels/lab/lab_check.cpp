// Correctness of a candidate.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kernels/contract/tolerance.h"
#include "kernels/judge/examiner.h"
#include "kernels/judge/verdicts.h"
#include "kernels/lab/edge_values.h"
#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"
#include "server/core/clock.h"
#include "server/core/fields.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr int kSeeds = 3;
// A kernel that fails often is not run through the whole plan.
constexpr int kMostFailures = 6;
constexpr std::size_t kMostSlices = 12;
// Of a race that follows. More would hold up what the next check needs: drivers make contexts one
// after another.
constexpr std::size_t kStartedBeside = 3;

/// One execution of the plan.
struct Step {
  const Case* one = nullptr;
  std::size_t case_index = 0;
  int seed = 0;
  std::string distribution;

  [[nodiscard]] std::string place() const {
    return fmt::format("check case {} seed {} {}", case_index, seed, distribution);
  }
};

std::vector<Step> steps_of(const ExaminedSizes& sizes,
                           const std::vector<std::string>& distributions) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < sizes.cases.size(); ++i) {
    const bool edge = i + sizes.edges >= sizes.cases.size();
    for (int seed = 0; seed < (edge ? 1 : kSeeds); ++seed)
      for (const auto& distribution : distributions)
        if (edge ? &distribution == &distributions.front() : seed == 0 || !drawn_once(distribution))
          steps.push_back({&sizes.cases[i], i, seed, distribution});
  }
  return steps;
}

/// Collects reasons: one per code, with the first message and the number of occurrences.
class Reasons {
 public:
  void add(const Step& step, Reason reason) {
    reason.message +=
        fmt::format(" ({}, seed {}, {})", dims_text(step.one->dims), step.seed, step.distribution);
    add(reason);
  }
  void add(const Reason& reason) {
    auto& seen = seen_[reason.code];
    seen.origin = reason.origin;
    if (seen.count++ == 0) seen.message = reason.message;
  }

  [[nodiscard]] bool empty() const { return seen_.empty(); }

  [[nodiscard]] std::vector<Reason> list() const {
    std::vector<Reason> reasons;
    for (const auto& [code, seen] : seen_)
      reasons.push_back({code,
                         seen.count == 1
                             ? seen.message
                             : fmt::format("{}; {} executions in all", seen.message, seen.count),
                         {},
                         seen.origin});
    return reasons;
  }

 private:
  struct Seen {
    std::string message;
    Origin origin;
    int count = 0;
  };
  std::map<std::string, Seen> seen_;
};

/// The seed of an execution, by its place in the plan.
using SeedOf = std::function<std::string(const std::string& place)>;

/// A check in progress.
struct Check {
  Examiner& examiner;
  CandidateProcess& process;
  const CallContext& call;
  CorrectnessReport report;
  Reasons reasons;
  int failures = 0;
  int by_terms = 0;   ///< executions that passed by what their terms earn
  int no_shadow = 0;  ///< executions that were judged without one
  std::string why_no_shadow{};
  std::optional<Step> first_wrong{};         ///< the first with only its outputs wrong
  std::vector<std::string> wrong_outputs{};  ///< of it
  std::map<std::string, int> dropped{};      ///< trials without a finite answer, by distribution
  EdgeAnswers edges{};
  /// Signed mean errors over their RMS, by output; only those beyond the limit, else 0.
  std::map<std::string, std::vector<double>> leans{};

  /// The steps, then what their answers leave open: slices, errors that lean, edge values.
  Status run_plan(const Contract& contract, const ExaminedSizes& sizes,
                  const std::vector<Step>& steps, const SeedOf& seed_of);
  Status run(const Step& step, std::string_view seed);
  Status run_slices(const Step& step, std::size_t most, std::string_view seed);
  Status run_edges(const Contract& contract, const ExaminedSizes& sizes, std::string_view seed);
  void note_wrong(const Step& step, const wire::Comparison& verdict);
  void note_leans(const wire::Comparison& verdict);
  void judge_leans(const Step& step);
  void note_fault(const Step& step, const std::optional<Fault>& fault);
};

Status Check::run_plan(const Contract& contract, const ExaminedSizes& sizes,
                       const std::vector<Step>& steps, const SeedOf& seed_of) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (report.fault || failures >= kMostFailures) break;
    const auto place = steps[i].place();
    call.progress(static_cast<double>(i), static_cast<double>(steps.size()), place);
    if (auto done = run(steps[i], seed_of(place)); !done) return done;
  }
  for (std::size_t i = 0; i + sizes.edges < sizes.cases.size() && contract.judge; ++i) {
    if (report.fault || failures > 0) break;
    const Step step{&sizes.cases[i], i, 0, "slices"};
    // All slices of the case that is timed, one of every other.
    auto done = run_slices(step, i == 0 ? kMostSlices : 1, seed_of(step.place()));
    if (!done) return done;
  }
  if (report.fault) return {};
  judge_leans(steps.front());
  return reasons.empty() ? run_edges(contract, sizes, seed_of("edge values")) : Status{};
}

Status Check::run(const Step& step, std::string_view seed) {
  // Once per case: the same input at another address.
  const bool twice = step.seed == 0 && step.distribution == "normal";
  auto examined = examiner.examine({step.one->dims, step.distribution, seed, twice}, call);
  if (!examined) return examined.error();
  if (*examined && (*examined)->dropped) {
    ++dropped[step.distribution];
  } else if (*examined) {
    const auto& verdict = (*examined)->verdict;
    report.cases.push_back(result_of(*step.one, step.seed, step.distribution, verdict));
    for (const auto& reason : reasons_of(verdict)) reasons.add(step, reason);
    if (!verdict.passed) ++failures;
    by_terms += verdict.by_terms;
    if (!verdict.no_shadow.empty()) {
      ++no_shadow;
      why_no_shadow = verdict.no_shadow;
    }
    note_wrong(step, verdict);
    note_leans(verdict);
    if (const auto& again = (*examined)->again; again && !again->same_bits) {
      report.repeatable = false;
      if (again->verdict)
        for (const auto& reason : reasons_of(*again->verdict)) reasons.add(step, reason);
    }
  }
  if (process.fault()) note_fault(step, process.fault());
  return {};
}

/// Slices are asked about on the distribution that tolerances are written for.
Status Check::run_slices(const Step& step, std::size_t most, std::string_view seed) {
  auto found = examiner.examine_slices({step.one->dims, "normal", seed, false}, most, call);
  if (!found) return found.error();
  if (*found) reasons.add(step, reason_of(**found));
  if (process.fault()) note_fault(step, process.fault());
  return {};
}

Status Check::run_edges(const Contract& contract, const ExaminedSizes& sizes,
                        std::string_view seed) {
  auto answers = ask_edge_values(examiner, process, contract, sizes, seed, call);
  if (!answers) return answers.error();
  edges = *std::move(answers);
  if (!contract.edge_values.value_or(false)) return {};
  for (const auto& reason : edges.reasons) reasons.add(reason);
  report.fault = edges.fault;
  return {};
}

void Check::note_wrong(const Step& step, const wire::Comparison& verdict) {
  if (verdict.passed || first_wrong || !verdict.guards_intact || !verdict.inputs_intact) return;
  first_wrong = step;
  for (const auto& output : verdict.outputs)
    if (output.mismatches > 0) wrong_outputs.push_back(output.tensor);
}

void Check::note_leans(const wire::Comparison& verdict) {
  for (std::size_t i = 0; i < verdict.states.size() && i < verdict.outputs.size(); ++i)
    leans[verdict.outputs[i].tensor].push_back(verdict.states[i].bias.value_or(0));
}

/// Roundings to nearest lean neither way: a kernel that leans the same way in most trials
/// truncates.
void Check::judge_leans(const Step& step) {
  constexpr std::size_t kEnough = 6;
  for (const auto& [tensor, seen] : leans) {
    const auto share = [&](auto leaning) {
      return static_cast<std::size_t>(std::ranges::count_if(seen, leaning));
    };
    const auto inwards = share([](double lean) { return lean < 0; });
    const auto outwards = share([](double lean) { return lean > 0; });
    if (std::max(inwards, outwards) < kEnough || std::max(inwards, outwards) * 2 < seen.size() ||
        std::min(inwards, outwards) > 0)
      continue;
    reasons.add(step, {"biased",
                       fmt::format("{}: errors lean {} zero in {} of {} trials, unlike those of "
                                   "roundings to nearest: values are truncated",
                                   tensor, inwards > 0 ? "towards" : "away from",
                                   std::max(inwards, outwards), seen.size()),
                       {}});
  }
}

void Check::note_fault(const Step& step, const std::optional<Fault>& fault) {
  report.fault = fault;
  reasons.add(step, reason_of(*report.fault));
}

std::vector<Reason> notes_of(const Contract& contract, const Check& check) {
  std::vector<Reason> notes;
  const std::string sandbox = check.process.sandbox();
  if (lacks_a_wall(sandbox))
    notes.push_back({"weak_sandbox", "the kernel ran under: " + sandbox, {}});
  if (contract.seed_given)
    notes.push_back({"fixed_seed", "the caller knows the seed, so inputs can be predicted", {}});
  if (contract.matched_ratio.value_or(1) < 1)
    notes.push_back(
        {"matched_ratio",
         fmt::format("only {:.4g} % of each output have to match{}", *contract.matched_ratio * 100,
                     contract.rest_within
                         ? fmt::format(", the rest within {:g} times the server's own tolerance",
                                       *contract.rest_within)
                         : ""),
         {}});
  if (const double growth = largest_growth(contract); growth > 1)
    notes.push_back(
        {"long_reduction",
         fmt::format("atol is {:.2f} times the default: in reductions this long, correct "
                     "sums differ by more",
                     growth),
         {}});
  for (const auto& [distribution, trials] : check.dropped)
    notes.push_back({"distribution_dropped",
                     fmt::format("{} trials of {} inputs were not asked about: the reference's "
                                 "answer to them is NaN or infinite",
                                 trials, distribution),
                     {}});
  if (contract.edge_values.value_or(false) && !check.edges.dropped.empty())
    notes.push_back({"edge_values_dropped",
                     fmt::format("not asked about: {}", fmt::join(check.edges.dropped, "; ")),
                     {}});
  if (auto note = edge_note_of(check.edges); note && !contract.edge_values.value_or(false))
    notes.push_back(*std::move(note));
  if (check.by_terms > 0)
    notes.push_back({"error_of_terms",
                     fmt::format("{} executions passed because outputs are sums: an element may be "
                                 "off by 8 roundings of the magnitudes of its terms, however far "
                                 "they cancel",
                                 check.by_terms),
                     {}});
  if (check.no_shadow > 0)
    notes.push_back({"no_shadow",
                     fmt::format("{} executions were judged without the reference's answer in "
                                 "float64: {}",
                                 check.no_shadow, check.why_no_shadow),
                     {}});
  if (!check.report.repeatable)
    notes.push_back({"not_repeatable", "two calls on one input differ in some bits", {}});
  return notes;
}

/// Of a check that is over.
CorrectnessReport report_of(const Contract& contract, Check& check, std::size_t steps) {
  check.report.notes = notes_of(contract, check);
  std::size_t dropped = 0;
  for (const auto& [distribution, trials] : check.dropped)
    dropped += static_cast<std::size_t>(trials);
  CorrectnessReport report = std::move(check.report);
  report.reasons = check.reasons.list();
  report.passed = report.reasons.empty() && report.cases.size() + dropped == steps;
  for (const auto& tensor : contract.tensors) {
    if (tensor.role == Role::in) continue;
    const auto tolerance = check.examiner.tolerance_of(tensor.dtype);
    report.atol = tensor.atol.value_or(tolerance.atol);
    report.rtol = tensor.rtol.value_or(tolerance.rtol);
    break;
  }
  report.matched_ratio = contract.matched_ratio.value_or(1);
  return report;
}

}  // namespace

Result<TimedReport> Laboratory::check(const Contract& contract, const Candidate& candidate,
                                      const Ahead& ahead, std::string_view run_secret,
                                      CallContext& call) {
  return examine(contract, candidate, sizes_to_check(contract, run_secret), ahead, run_secret,
                 call);
}

Result<TimedReport> Laboratory::examine(const Contract& contract, const Candidate& candidate,
                                        const ExaminedSizes& sizes, const Ahead& ahead,
                                        std::string_view run_secret, CallContext& call) {
  const auto begin = steady_clock::now();
  Stopwatch watch;
  watch.begin("waiting");
  std::unique_ptr<DeviceQueue::Left> left;
  auto turn = queue.wait(contract.device_kind, contract.device, call, &left);
  if (!turn) return turn.error();
  // Who waits for the device would end what is left on it.
  const auto follows = DeviceQueue::wanted(*turn) ? Ahead{} : ahead;
  auto terms = judge_terms(contract);
  auto* const last = left_with(left, terms);
  const bool in_a_row = last != nullptr || follows.checks > 0;
  ProcessesAside aside;
  if (last) aside = std::move(last->aside);
  std::unique_ptr<Examiner> examiner;
  if (last && last->judge) examiner = examiner_with(contract, std::move(last->judge));
  left.reset();
  const bool used = examiner != nullptr;
  auto report =
      examine_by(examiner, contract, candidate, sizes, follows, aside, run_secret, watch, call);
  const bool beside_others = aside.checked.size() > 0;
  const bool doubtful = report ? report->fault.has_value() && beside_others
                               : used || aside.spares.served() || beside_others;
  if (doubtful && !call.canceled()) {
    // The fault may be of processes that have served others or had waited, or of those that stay,
    // which took memory or time: with new ones, alone, it counts.
    examiner.reset();
    aside = {};
    report =
        examine_by(examiner, contract, candidate, sizes, follows, aside, run_secret, watch, call);
  }
  if (!report) return report.error();
  IdleJudge idle;
  if (examiner && (report->fault || !in_a_row))
    aside.endings.add(std::move(examiner));
  else if (examiner)
    idle = examiner->release();
  if (!follows.any()) aside = {};
  if (sizes.check_follows && !DeviceQueue::wanted(*turn))
    start_candidates(contract, 1, aside.spares);
  queue.leave(*turn,
              std::make_unique<JudgeLeft>(std::move(terms), std::move(idle), std::move(aside)),
              follows.any());
  report->elapsed_ms = milliseconds_since(begin);
  return TimedReport{*std::move(report), watch.stop()};
}

Result<CorrectnessReport> Laboratory::examine_by(std::unique_ptr<Examiner>& examiner,
                                                 const Contract& contract,
                                                 const Candidate& candidate,
                                                 const ExaminedSizes& sizes, const Ahead& ahead,
                                                 ProcessesAside& aside, std::string_view run_secret,
                                                 Stopwatch& watch, CallContext& call) {
  watch.begin("starting");
  auto compiled = compile_for(contract, candidate, sizes.cases, call);
  if (!compiled) return compiled.error();
  auto plan = start_plan(contract, candidate, CandidateProcess::Use::time, kMostArenas, call);
  if (!plan) return plan.error();
  auto parts = reference_parts(contract);
  parts.spares = &aside.spares;
  auto process = CandidateProcess::launch(plan->spec, plan->deadline, parts.spares);
  if (!process) return process.error();
  if (examiner) {
    if (auto in = examiner->admit(*process, plan->code, call); !in) return in.error();
  } else {
    auto opened = open_examiner(parts, contract, *process, plan->code, call);
    if (!opened) return opened.error();
    examiner = *std::move(opened);
  }
  // Who is checked finds most of the device's memory free, whatever the kernels before took.
  const auto device = greeting(contract.device_kind, contract.device, call);
  if (const auto free = examiner->free_bytes();
      free && device &&
      device->device.memory_bytes - *free > device->device.memory_bytes / ProcessesAside::kShare)
    aside.checked = {};
  auto beside = ahead;
  if (!beside.races.empty()) --beside.races.front();  // its own process goes on
  const bool may_keep = start_ahead(contract, beside, kStartedBeside, aside);
  watch.begin("checking");
  const auto steps = steps_of(sizes, values_of(contract));
  Check check{*examiner, *process, call, {}, {}, 0};
  if (process->fault() || *compiled)
    check.note_fault(steps.front(), process->fault() ? process->fault() : *compiled);
  const auto seed_of = std::bind_front(trial_seed, run_secret, candidate.build.binary_digest);
  if (auto done = check.run_plan(contract, sizes, steps, seed_of); !done) return done.error();
  if (check.first_wrong && !check.report.fault) {
    const auto& step = *check.first_wrong;
    auto added = adds_onto(contract, candidate,
                           {step.one->dims, step.distribution, seed_of(step.place()), false},
                           check.wrong_outputs, call);
    if (!added) return added.error();
    if (*added) check.reasons.add(step, **added);
  }

  auto report = report_of(contract, check, steps.size());
  report.candidate_digest = candidate.build.binary_digest;
  // Those of the check before have ended by now.
  aside.endings.wait();
  if (may_keep && !ahead.races.empty() && report.passed && examiner->let_go(*process, call) &&
      !process->fault())
    aside.checked.keep(candidate.build.binary_digest, *std::move(process));
  else
    aside.endings.add(*std::move(process));
  if (leaves_doubt(contract, check.edges) &&
      (report.fault || ahead.checks == 0 ||
       !examiner->settle_reference(parts, aside.endings, call)))
    aside.endings.add(std::move(examiner));
  return report;
}

}  // namespace ratchet
