// Checks that a task's reference works and that the task rejects wrong answers.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "kernels/contract/contract_warnings.h"
#include "kernels/contract/hidden_cases.h"
#include "kernels/contract/tolerance.h"
#include "kernels/judge/device_trials.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {
namespace {

std::string_view described(wire::Control control) {
  switch (control) {
    case wire::Control::zero:
      return "zeros";
    case wire::Control::constant:
      return "one value everywhere";
    case wire::Control::identity:
      return "an unchanged input";
    case wire::Control::lower_precision:
      return "the right answer in the precision of the next smaller type";
    case wire::Control::sign:
      return "the right answer with every sign changed";
    case wire::Control::stale:
      return "the answer to other inputs";
  }
  return "";
}

/// Generates trials of a task, runs the reference on them and applies controls.
class TrialBackend {
 public:
  struct Generated : wire::Answered {
    bool varied = true;  ///< the changed input has other contents than before
  };

  virtual ~TrialBackend() = default;

  /// Generates a trial, which is used until the next one. With `changed`: the previous trial with
  /// one input changed.
  virtual Result<Generated> generate(const Dims& dims, const std::string& distribution,
                                     const std::string& seed,
                                     const std::optional<wire::Changed>& changed,
                                     const CallContext& call) = 0;
  /// The verdict on what the control would leave; empty if it does not apply.
  virtual Result<std::optional<wire::Comparison>> forge(wire::Control control,
                                                        const CallContext& call) = 0;
  /// Judge and reference, for another job; this backend is of no use any more.
  virtual IdleJudge release() = 0;
};

/// In device memory.
class DeviceTrialBackend : public TrialBackend {
 public:
  DeviceTrialBackend(const Contract& contract, std::unique_ptr<DeviceTrials> trials)
      : contract_(contract), trials_(std::move(trials)) {}

  Result<Generated> generate(const Dims& dims, const std::string& distribution,
                             const std::string& seed, const std::optional<wire::Changed>& changed,
                             const CallContext& call) override {
    const auto plan = call_plan_of(contract_, dims);
    if (!plan) return plan.error();
    if (same_rules_on_devices(contract_))
      if (auto known = trials_->finite_when_normal(dims, call); !known) return known.error();
    const DeviceTrials::Content content{dims, distribution, seed, changed, {}};
    // No candidate attaches memory: everything judged stays in the judge.
    if (auto generated = trials_->generate(*plan, content, {}, call); !generated)
      return generated.error();
    if (auto done = trials_->answer(call); !done) return done.error();
    auto answered = trials_->describe(call);
    if (!answered) return answered.error();
    return Generated{*std::move(answered)};
  }

  Result<std::optional<wire::Comparison>> forge(wire::Control control,
                                                const CallContext& call) override {
    return trials_->forge(control, call);
  }

  IdleJudge release() override { return {std::move(trials_), {}}; }

 private:
  const Contract& contract_;
  std::unique_ptr<DeviceTrials> trials_;
};

/// An output of which the reference changed no byte.
Result<std::optional<std::string>> unwritten_output(const Trial& trial) {
  const auto sent = trial.sent.map(Mapping::Access::read);
  if (!sent) return sent.error();
  const auto expected = trial.expected.map(Mapping::Access::read);
  if (!expected) return expected.error();
  for (const auto& buffer : trial.plan.layout.buffers) {
    if (buffer.role != Role::out) continue;
    const auto from = static_cast<std::size_t>(buffer.offset);
    const auto size = static_cast<std::size_t>(buffer.bytes());
    if (std::ranges::equal(sent->bytes().subspan(from, size),
                           expected->bytes().subspan(from, size)))
      return std::optional<std::string>(buffer.name);
  }
  return std::optional<std::string>{};
}

/// In memory files.
class FileTrialBackend : public TrialBackend {
 public:
  explicit FileTrialBackend(std::unique_ptr<Judge> judge) : judge_(std::move(judge)) {}

  Result<Generated> generate(const Dims& dims, const std::string& distribution,
                             const std::string& seed, const std::optional<wire::Changed>& changed,
                             const CallContext& call) override {
    auto trial = changed ? judge_->with_other(*now_, changed->tensor, changed->seed, call)
                         : judge_->make_trial(dims, distribution, seed, call);
    if (!trial) return trial.error();
    Generated answered{{trial->writes_all, {}, false, trial->rms, trial->not_finite}};
    auto unwritten = unwritten_output(*trial);
    if (!unwritten) return unwritten.error();
    answered.unwritten = *std::move(unwritten);
    if (!changed) {
      before_ = std::exchange(now_, *std::move(trial));
      return answered;
    }
    const auto same = same_outputs(trial->plan.layout, now_->expected, trial->expected);
    if (!same) return same.error();
    answered.same_as_before = *same;
    const auto varied = differs(changed->tensor, trial->sent);
    if (!varied) return varied.error();
    answered.varied = *varied;
    return answered;
  }

  Result<std::optional<wire::Comparison>> forge(wire::Control control,
                                                const CallContext& call) override {
    if (control == wire::Control::constant && !before_) return std::optional<wire::Comparison>{};
    auto answer = judge_->forge(*now_, before_ ? *before_ : *now_, control, call);
    if (!answer) return answer.error();
    if (!*answer) return std::optional<wire::Comparison>{};
    auto verdict = judge_->compare(*now_, **answer, call);
    if (!verdict) return verdict.error();
    return std::optional<wire::Comparison>(*std::move(verdict));
  }

  IdleJudge release() override { return {{}, std::move(judge_)}; }

 private:
  /// Whether the tensor has other contents there than in the present trial.
  Result<bool> differs(const std::string& tensor, const MemoryFile& sent) const {
    const auto first = now_->sent.map(Mapping::Access::read);
    if (!first) return first.error();
    const auto second = sent.map(Mapping::Access::read);
    if (!second) return second.error();
    const auto& buffers = now_->plan.layout.buffers;
    const auto buffer = std::ranges::find(buffers, tensor, &wire::Buffer::name);
    if (buffer == buffers.end()) return false;
    const auto from = static_cast<std::size_t>(buffer->offset);
    const auto size = static_cast<std::size_t>(buffer->bytes());
    return !std::ranges::equal(first->bytes().subspan(from, size),
                               second->bytes().subspan(from, size));
  }

  std::unique_ptr<Judge> judge_;
  std::optional<Trial> now_, before_;
};

std::unique_ptr<TrialBackend> backend_of(const Contract& contract, IdleJudge judge) {
  if (judge.on_device)
    return std::make_unique<DeviceTrialBackend>(contract, std::move(judge.on_device));
  return std::make_unique<FileTrialBackend>(std::move(judge.by_files));
}

/// A validation in progress.
struct TaskValidation {
  TrialBackend& backend;
  const Contract& contract;
  std::string_view run_secret;
  const CallContext& call;
  std::vector<Reason> weak;
  std::map<wire::Control, bool> passes{};  ///< whether it passed all trials tried so far

  Status try_distributions();
  /// Warns of a given `atol` far above what answers of this magnitude ask for.
  void weigh_atol(const std::vector<double>& normal_rms);
  Status try_repetition();
  Status try_controls();
  Status try_inputs();
  Result<TrialBackend::Generated> generate(const std::string& what, const std::string& distribution,
                                           const std::optional<wire::Changed>& changed = {});
  void warn(std::string code, std::string message) {
    weak.push_back({std::move(code), std::move(message), {}});
  }
};

Result<TrialBackend::Generated> TaskValidation::generate(
    const std::string& what, const std::string& distribution,
    const std::optional<wire::Changed>& changed) {
  return backend.generate(contract.cases.front().dims, distribution,
                          trial_seed(run_secret, "", "admit " + what), changed, call);
}

/// The normal distribution is last: its trial is used when inputs are changed one by one.
Status TaskValidation::try_distributions() {
  auto distributions = distributions_of(contract);
  std::ranges::reverse(distributions);
  // The constant comes from another trial's answer.
  auto other = generate("other", distributions.back());
  if (!other) return other.error();
  bool writes_all = true;
  for (const auto& distribution : distributions) {
    auto answered = generate(distribution, distribution);
    if (!answered) return answered.error();
    if (answered->unwritten)
      return invalid_argument(
          fmt::format("the reference writes nothing to the output {}", *answered->unwritten),
          "Fix the reference, or set the tensor's role to in.");
    writes_all = answered->writes_all;
    if (contract.judge && distribution != distributions.back() && answered->not_finite > 0 &&
        other->not_finite == 0) {
      warn("distribution_dropped",
           fmt::format("the reference's answer to {} inputs is NaN or infinite: they are not asked "
                       "about",
                       distribution));
      continue;
    }
    if (auto tried = try_controls(); !tried) return tried;
  }
  if (!writes_all)
    warn("partial_reference",
         "the reference leaves parts of its outputs unwritten; they are not checked");
  for (const auto& [control, passed] : passes)
    if (passed)
      warn(fmt::format("weak_task_{}", name_of(control)),
           fmt::format("{} would pass the check although it is wrong: the tolerances are too wide "
                       "for this task, or its inputs do not show the error",
                       described(control)));
  weigh_atol(other->rms);
  return {};
}

void TaskValidation::weigh_atol(const std::vector<double>& normal_rms) {
  if (!contract.judge || !contract.atol) return;
  std::string lets_pass;
  for (const auto& [control, passed] : passes)
    if (passed) lets_pass += fmt::format("{}{}", lets_pass.empty() ? "" : ", ", described(control));
  std::size_t output = 0;
  for (const auto& tensor : contract.tensors) {
    if (tensor.role == Role::in) continue;
    const auto own = default_tolerance(tensor.dtype);
    const double rms = output < normal_rms.size() ? normal_rms[output] : 0;
    ++output;
    if (own.exact || rms == 0 || *contract.atol <= contract.judge->looser * own.atol * rms)
      continue;
    warn(
        "loose_tolerance",
        fmt::format("atol {:g} is {:.0f} times what honest {} answers of this size ask for ({} has "
                    "an RMS of {:.3g}); with it would pass: {}",
                    *contract.atol, *contract.atol / (own.atol * rms), name_of(tensor.dtype),
                    tensor.name, rms, lets_pass.empty() ? "none of the controls" : lets_pass));
  }
}

/// The last trial once more: one input is drawn from the seed it had.
Status TaskValidation::try_repetition() {
  const auto normal = distributions_of(contract).front();
  const auto input = std::ranges::find_if(
      contract.tensors, [](const TensorSpec& tensor) { return tensor.role != Role::out; });
  if (!contract.judge || input == contract.tensors.end()) return {};
  const wire::Changed same{input->name, trial_seed(run_secret, "", "admit " + normal), {}};
  auto answered = generate(normal, normal, same);
  if (!answered) return answered.error();
  if (!answered->same_as_before)
    warn("reference_not_repeatable",
         "two answers of the reference to one input differ in some bits: verdicts near the "
         "tolerance may change from check to check");
  return {};
}

Status TaskValidation::try_controls() {
  for (const auto& [control, name] : enum_names(wire::Control{})) {
    if (control == wire::Control::stale) continue;  // only of use beside a changed slice
    const auto before = passes.try_emplace(control, true).first;
    if (!before->second) continue;
    auto verdict = backend.forge(control, call);
    if (!verdict) return verdict.error();
    before->second = *verdict && (*verdict)->passed;
  }
  return {};
}

/// Reports inputs that do not affect the answer, so that a kernel could skip work on them. Inputs
/// that a function makes belong together: one of another seed among them may be no input at all.
Status TaskValidation::try_inputs() {
  const auto distribution = distributions_of(contract).front();
  for (const auto& tensor : contract.tensors) {
    if (tensor.role == Role::out || keeps_contents(tensor)) continue;
    const wire::Changed changed{
        tensor.name, trial_seed(run_secret, "", "admit other " + tensor.name), {}};
    auto answered = generate(distribution, distribution, changed);
    if (!answered) return answered.error();
    if (answered->same_as_before && answered->varied)
      warn("input_without_effect",
           fmt::format("the answer does not depend on {}: a kernel could ignore it", tensor.name));
  }
  return {};
}

Result<std::vector<Reason>> validated(TrialBackend& backend, const Contract& contract,
                                      std::string_view run_secret, const CallContext& call) {
  TaskValidation validation{backend, contract, run_secret, call, contract_warnings(contract)};
  if (auto tried = validation.try_distributions(); !tried) return tried.error();
  if (auto tried = validation.try_repetition(); !tried) return tried.error();
  if (auto tried = validation.try_inputs(); !tried) return tried.error();
  return std::move(validation.weak);
}

/// What `asked` learns from `judge`, or from a new one if there is none; it is there afterwards.
template <class Asked>
auto ask_by(IdleJudge& judge, const ReferenceParts& parts, const Contract& contract,
            const CallContext& call, const Asked& asked)
    -> decltype(asked(std::declval<TrialBackend&>())) {
  if (!judge) {
    auto opened = open_idle_judge(parts, contract, call);
    if (!opened) return opened.error();
    judge = *std::move(opened);
  }
  const auto backend = backend_of(contract, std::move(judge));
  auto answer = asked(*backend);
  if (answer) judge = backend->release();
  return answer;
}

/// As `ask_by`, of the judge that is left on the device. The kernel is examined next: its process
/// starts beside, and after a judge that is yet to start.
template <class Asked>
auto ask_left(LabParts& lab, const Contract& contract, CallContext& call, const Asked& asked)
    -> decltype(asked(std::declval<TrialBackend&>())) {
  std::unique_ptr<DeviceQueue::Left> left;
  auto turn = lab.queue.wait(contract.device_kind, contract.device, call, &left);
  if (!turn) return turn.error();
  auto terms = judge_terms(contract);
  IdleJudge judge;
  ProcessesAside aside;
  if (auto* const last = left_with(left, terms)) {
    judge = std::move(last->judge);
    aside = std::move(last->aside);
  }
  left.reset();
  const auto parts = lab.reference_parts(contract);
  const bool used = static_cast<bool>(judge);
  if (used) lab.start_candidates(contract, 1, aside.spares);
  auto answer = ask_by(judge, parts, contract, call, asked);
  // As after a check: with new processes a failure counts.
  if (!answer && used && !call.canceled()) answer = ask_by(judge, parts, contract, call, asked);
  if (!answer) return answer;
  if (!used) lab.start_candidates(contract, 1, aside.spares);
  lab.queue.leave(
      *turn, std::make_unique<JudgeLeft>(std::move(terms), std::move(judge), std::move(aside)));
  return answer;
}

}  // namespace

Result<std::vector<Reason>> Laboratory::validate_task(const Contract& contract,
                                                      std::string_view run_secret,
                                                      CallContext& call) {
  return ask_left(*this, contract, call, [&](TrialBackend& backend) {
    return validated(backend, contract, run_secret, call);
  });
}

Result<std::optional<Reason>> Laboratory::unanswered_size(const Contract& contract,
                                                          std::string_view run_secret,
                                                          CallContext& call) {
  const auto sizes = sizes_to_check(contract, run_secret).cases;
  const auto answered = ask_left(*this, contract, call, [&](TrialBackend& backend) -> Status {
    for (const auto& one : sizes) {
      if (!one.hidden) continue;
      const auto seed = trial_seed(run_secret, "", "size " + dims_text(one.dims));
      if (auto made = backend.generate(one.dims, "normal", seed, {}, call); !made)
        return Error{made.error().code,
                     fmt::format("{}: {}", dims_text(one.dims), made.error().message),
                     made.error().hint};
    }
    return {};
  });
  if (answered) return std::optional<Reason>{};
  // What the reference raised; anything else is no matter of sizes.
  if (answered.error().code != ErrorCode::invalid_argument) return answered.error();
  return std::optional(Reason{"reference_failed", answered.error().message, {}, {}});
}

Result<std::optional<Reason>> Laboratory::refused_size(Contract contract,
                                                       const Candidate& candidate,
                                                       std::string_view run_secret,
                                                       CallContext& call) {
  contract.any_size = true;
  ExaminedSizes sizes{hidden_cases(contract, trial_seed(run_secret, "", "odd case"), 1)};
  std::ranges::move(deciding_edge_cases(contract, trial_seed(run_secret, "", "first edge cases")),
                    std::back_inserter(sizes.cases));
  sizes.edges = sizes.cases.size();
  sizes.check_follows = true;
  if (sizes.cases.empty())
    return std::optional(Reason{"no_size", "tensors, work or launch allow none", {}, {}});
  auto report = examine(contract, candidate, sizes, {}, run_secret, call);
  // The reference's own failure, at a size that nobody promised.
  if (!report && report.error().code == ErrorCode::invalid_argument)
    return std::optional(Reason{"reference_failed", report.error().message, {}, {}});
  if (!report) return report.error();
  if (report->passed) return std::optional<Reason>{};
  if (report->reasons.empty())
    return std::optional(Reason{"not_judged", "v0 was not judged", {}, {}});
  return std::optional(report->reasons.front());
}

}  // namespace ratchet
