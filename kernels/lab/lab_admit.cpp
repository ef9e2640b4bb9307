// Whether a task's reference works, and whether the task can tell right from wrong.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kernels/contract/contract_warnings.h"
#include "kernels/contract/layout.h"
#include "kernels/judge/device_trials.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {
namespace {

std::string_view described(job::Control control) {
  switch (control) {
    case job::Control::zero:
      return "zeros";
    case job::Control::constant:
      return "one value everywhere";
    case job::Control::identity:
      return "an input handed back";
    case job::Control::lower_precision:
      return "the right answer in the precision of the next smaller type";
  }
  return "";
}

/// Where trials of a task are made and answered, and what needs no computing is tried on them.
class Bench {
 public:
  virtual ~Bench() = default;

  /// A trial, which stands until the next; with `changed`, the last one without it, but for one
  /// input.
  virtual Result<job::Answered> pose(const Dims& dims, const std::string& distribution,
                                     const std::string& seed,
                                     const std::optional<job::Changed>& changed,
                                     const CallContext& call) = 0;
  /// The verdict on what the control would leave; empty when it has nothing to offer.
  virtual Result<std::optional<job::Comparison>> forge(job::Control control,
                                                       const CallContext& call) = 0;
};

/// In device memory.
class BenchOnDevice : public Bench {
 public:
  BenchOnDevice(const Contract& contract, std::unique_ptr<DeviceTrials> trials)
      : contract_(contract), trials_(std::move(trials)) {}

  Result<job::Answered> pose(const Dims& dims, const std::string& distribution,
                             const std::string& seed, const std::optional<job::Changed>& changed,
                             const CallContext& call) override {
    auto layout = layout_of(contract_, dims);
    if (!layout) return layout.error();
    auto arguments = arguments_of(contract_, dims, *layout);
    const CallPlan plan{*std::move(layout), std::move(arguments)};
    const DeviceTrials::Content content{dims, distribution, seed, changed, {}};
    // Nobody takes candidates' memory: what is judged never leaves the judge.
    if (auto posed = trials_->pose(plan, content, {}, call); !posed) return posed.error();
    if (auto done = trials_->answer(call); !done) return done.error();
    return trials_->look(call);
  }

  Result<std::optional<job::Comparison>> forge(job::Control control,
                                               const CallContext& call) override {
    return trials_->feign(control, call);
  }

 private:
  const Contract& contract_;
  std::unique_ptr<DeviceTrials> trials_;
};

/// An output that the reference left as it was sent, in all of its bytes.
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

/// Through memory files.
class BenchOfFiles : public Bench {
 public:
  explicit BenchOfFiles(std::unique_ptr<Judge> judge) : judge_(std::move(judge)) {}

  Result<job::Answered> pose(const Dims& dims, const std::string& distribution,
                             const std::string& seed, const std::optional<job::Changed>& changed,
                             const CallContext& call) override {
    auto trial = changed ? judge_->with_other(*now_, changed->tensor, changed->seed, call)
                         : judge_->make_trial(dims, distribution, seed, call);
    if (!trial) return trial.error();
    job::Answered answered{trial->writes_all, {}, false};
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
    return answered;
  }

  Result<std::optional<job::Comparison>> forge(job::Control control,
                                               const CallContext& call) override {
    if (control == job::Control::constant && !before_) return std::optional<job::Comparison>{};
    auto answer = judge_->forge(*now_, before_ ? *before_ : *now_, control, call);
    if (!answer) return answer.error();
    if (!*answer) return std::optional<job::Comparison>{};
    auto verdict = judge_->compare(*now_, **answer, call);
    if (!verdict) return verdict.error();
    return std::optional<job::Comparison>(*std::move(verdict));
  }

 private:
  std::unique_ptr<Judge> judge_;
  std::optional<Trial> now_, before_;
};

Result<std::unique_ptr<Bench>> open_bench(const ReferenceParts& parts, const Contract& contract,
                                          const CallContext& call) {
  if (answers_on_device(contract)) {
    auto trials = DeviceTrials::launch(parts, contract, {.candidates = 0}, call);
    const auto opened = trials ? (*trials)->open(call) : Status(trials.error());
    if (opened)
      return std::unique_ptr<Bench>(std::make_unique<BenchOnDevice>(contract, *std::move(trials)));
    if (opened.error().code != ErrorCode::unavailable) return opened.error();
  }
  auto judge = Judge::open(parts, contract, call);
  if (!judge) return judge.error();
  return std::unique_ptr<Bench>(std::make_unique<BenchOfFiles>(*std::move(judge)));
}

/// An admission in progress.
struct Admission {
  Bench& bench;
  const Contract& contract;
  std::string_view run_secret;
  const CallContext& call;
  std::vector<Reason> weak;
  std::map<job::Control, bool> passes{};  ///< whether it passed all trials that it was tried on

  Status try_distributions();
  Status try_controls();
  Status try_inputs();
  Result<job::Answered> pose(const std::string& what, const std::string& distribution,
                             const std::optional<job::Changed>& changed = {});
  void warn(std::string code, std::string message) {
    weak.push_back({std::move(code), std::move(message), {}});
  }
};

Result<job::Answered> Admission::pose(const std::string& what, const std::string& distribution,
                                      const std::optional<job::Changed>& changed) {
  return bench.pose(contract.cases.front().dims, distribution,
                    trial_seed(run_secret, "", "admit " + what), changed, call);
}

/// The normal one last: it stands when inputs are changed one by one.
Status Admission::try_distributions() {
  auto distributions = distributions_of(contract);
  std::ranges::reverse(distributions);
  // A constant is taken from another trial's answer.
  if (auto other = pose("other", distributions.back()); !other) return other.error();
  bool writes_all = true;
  for (const auto& distribution : distributions) {
    auto answered = pose(distribution, distribution);
    if (!answered) return answered.error();
    if (answered->unwritten)
      return Error{
          ErrorCode::invalid_argument,
          fmt::format("the reference writes nothing to the output {}", *answered->unwritten),
          "Mend the reference, or give the tensor's role as in."};
    writes_all = answered->writes_all;
    if (auto tried = try_controls(); !tried) return tried;
  }
  if (!writes_all)
    warn("partial_reference",
         "the reference leaves parts of its outputs unwritten; they are not checked");
  for (const auto& [control, passed] : passes)
    if (passed)
      warn(
          fmt::format("weak_task_{}", name_of(control)),
          fmt::format("{} would pass the check: the tolerances or inputs of this task are too weak",
                      described(control)));
  return {};
}

Status Admission::try_controls() {
  for (const auto& [control, name] : enum_names(job::Control{})) {
    const auto before = passes.try_emplace(control, true).first;
    if (!before->second) continue;
    auto verdict = bench.forge(control, call);
    if (!verdict) return verdict.error();
    before->second = *verdict && (*verdict)->passed;
  }
  return {};
}

/// Names inputs that the answer does not depend on: work on them could be left out.
Status Admission::try_inputs() {
  const auto distribution = distributions_of(contract).front();
  for (const auto& tensor : contract.tensors) {
    if (tensor.role == Role::out) continue;
    const job::Changed changed{tensor.name,
                               trial_seed(run_secret, "", "admit other " + tensor.name)};
    auto answered = pose(distribution, distribution, changed);
    if (!answered) return answered.error();
    if (answered->same_as_before)
      warn("input_without_effect",
           fmt::format("the answer does not depend on {}: a kernel may leave it out", tensor.name));
  }
  return {};
}

}  // namespace

Result<std::vector<Reason>> Laboratory::admit(const Contract& contract, std::string_view run_secret,
                                              CallContext& call) {
  auto turn = queue_.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto bench = open_bench(parts(contract), contract, call);
  if (!bench) return bench.error();
  Admission admission{**bench, contract, run_secret, call, contract_warnings(contract)};
  if (auto tried = admission.try_distributions(); !tried) return tried.error();
  if (auto tried = admission.try_inputs(); !tried) return tried.error();
  return std::move(admission.weak);
}

}  // namespace ratchet
