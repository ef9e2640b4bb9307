// Makes a new run's parts ready side by side: each of them takes seconds.

#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kernels/judge/device_trials.h"
#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {
namespace {

/// Starts judge and reference for the validation, which finds them left.
void open_judge_ahead(LabParts& lab, const Contract& contract, const CallContext& call) {
  std::unique_ptr<DeviceQueue::Left> left;
  const auto turn = lab.queue.wait(contract.device_kind, contract.device, call, &left);
  if (!turn || call.canceled()) return;
  auto terms = judge_terms(contract);
  if (const auto* const last = left_with(left, terms); last && last->judge)
    return lab.queue.give_back(*turn, std::move(left));
  left.reset();
  // What fails here fails again there, and says so.
  auto judge = open_idle_judge(lab.reference_parts(contract), contract, call);
  if (judge)
    lab.queue.leave(*turn, std::make_unique<JudgeLeft>(std::move(terms), *std::move(judge)));
}

}  // namespace

Result<PreparedTask> Laboratory::prepare(const Contract& contract, CallContext& call) {
  std::stop_source over;
  const std::stop_callback canceled(call.stop(), [&over] { over.request_stop(); });
  CallContext aside({}, over.get_token());
  const auto begin = [](auto work) { return std::async(std::launch::async, std::move(work)); };

  const auto parts = reference_parts(contract);
  const auto reference = begin([&] { warm_reference(parts, contract, aside); });
  const auto judge = begin([&] { warm_device_judge(parts, contract, aside); });
  const auto opened = begin([&] {
    reference.wait();
    judge.wait();
    open_judge_ahead(*this, contract, aside);
  });
  // The device is idle while compilers work. On the processor roofs want it for themselves.
  const auto roofs = begin([&] {
    if (contract.device_kind == DeviceKind::host) return;
    std::unique_ptr<DeviceQueue::Left> left;  // most runs find roofs that are known
    const auto turn = queue.wait(contract.device_kind, contract.device, aside, &left);
    if (!turn) return;
    (void)measured_ceilings(contract.device, contract.device_kind, false, aside);
    queue.give_back(*turn, std::move(left));
  });
  auto probed = begin([&] { return environment(contract.device, aside); });

  auto kernel = build(contract, contract.kernel, call);
  if (!kernel || !kernel->build.ok) over.request_stop();
  if (!kernel) return kernel.error();
  if (!kernel->build.ok) return PreparedTask{{}, *std::move(kernel)};
  auto found = probed.get();
  if (!found) return found.error();
  return PreparedTask{*std::move(found), *std::move(kernel)};
}

}  // namespace ratchet
