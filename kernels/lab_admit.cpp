// Whether a task's reference works, and whether the task can tell right from wrong.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/contract_warnings.h"
#include "kernels/laboratory.h"

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

/// An admission in progress.
struct Admission {
  Judge& judge;
  const Contract& contract;
  std::string_view run_secret;
  const CallContext& call;
  std::vector<Trial> trials;
  std::vector<Reason> weak;

  Status make_trials();
  Status try_control(job::Control control);
  Status try_inputs();
  Result<bool> passes(job::Control control);
};

Status Admission::make_trials() {
  for (const auto& distribution : distributions_of(contract)) {
    const auto seed = trial_seed(run_secret, "", "admit " + distribution);
    auto trial = judge.make_trial(contract.cases.front().dims, distribution, seed, call);
    if (!trial) return trial.error();
    trials.push_back(*std::move(trial));
  }
  return {};
}

/// Whether the control passes every trial. A constant is the first answer of the trial before.
Result<bool> Admission::passes(job::Control control) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& other = trials[(i + trials.size() - 1) % trials.size()];
    auto answer = judge.forge(trials[i], other, control, call);
    if (!answer) return answer.error();
    if (!*answer) return false;
    auto verdict = judge.compare(trials[i], **answer, call);
    if (!verdict) return verdict.error();
    if (!verdict->passed) return false;
  }
  return true;
}

Status Admission::try_control(job::Control control) {
  auto passed = passes(control);
  if (!passed) return passed.error();
  if (*passed)
    weak.push_back({fmt::format("weak_task_{}", name_of(control)),
                    fmt::format("{} would pass the check: the tolerances or inputs of this task "
                                "are too weak",
                                described(control)),
                    {}});
  return {};
}

/// Names inputs that the answer does not depend on: work on them could be left out.
Status Admission::try_inputs() {
  const Trial& trial = trials.front();
  for (const auto& tensor : contract.tensors) {
    if (tensor.role == Role::out) continue;
    const auto seed = trial_seed(run_secret, "", "admit other " + tensor.name);
    auto changed = judge.with_other(trial, tensor.name, seed, call);
    if (!changed) return changed.error();
    const auto same = same_outputs(trial.plan.layout, trial.expected, changed->expected);
    if (!same) return same.error();
    if (*same)
      weak.push_back(
          {"input_without_effect",
           fmt::format("the answer does not depend on {}: a kernel may leave it out", tensor.name),
           {}});
  }
  return {};
}

}  // namespace

Result<std::vector<Reason>> Laboratory::admit(const Contract& contract, std::string_view run_secret,
                                              CallContext& call) {
  auto turn = queue_.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto judge = Judge::open(parts(contract), contract, call);
  if (!judge) return judge.error();
  Admission admission{**judge, contract, run_secret, call, {}, contract_warnings(contract)};
  if (auto made = admission.make_trials(); !made) return made.error();
  auto unwritten = unwritten_output(admission.trials.front());
  if (!unwritten) return unwritten.error();
  if (*unwritten)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("the reference writes nothing to the output {}", **unwritten),
                 "Mend the reference, or give the tensor's role as in."};
  if (!admission.trials.front().writes_all)
    admission.weak.push_back(
        {"partial_reference",
         "the reference leaves parts of its outputs unwritten; they are not checked",
         {}});
  for (const auto& [control, name] : enum_names(job::Control{}))
    if (auto tried = admission.try_control(control); !tried) return tried.error();
  if (auto tried = admission.try_inputs(); !tried) return tried.error();
  return std::move(admission.weak);
}

}  // namespace ratchet
