// Makes a new run's parts ready side by side: each of them takes seconds.

#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "kernels/judge/device_trials.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {

Result<PreparedTask> Laboratory::prepare(const Contract& contract, CallContext& call) {
  std::stop_source over;
  const std::stop_callback canceled(call.stop(), [&over] { over.request_stop(); });
  CallContext aside({}, over.get_token());
  const auto begin = [](auto work) { return std::async(std::launch::async, std::move(work)); };

  const auto parts = reference_parts(contract);
  const auto reference = begin([&] { warm_reference(parts, contract, aside); });
  const auto judge = begin([&] { warm_device_judge(parts, contract, aside); });
  // The device is idle while compilers work. On the processor roofs want it for themselves.
  const auto roofs = begin([&] {
    if (contract.device_kind == DeviceKind::host) return;
    std::unique_ptr<DeviceQueue::Left> left;  // most runs find roofs that are known
    const auto turn = queue.wait(contract.device_kind, contract.device, aside, &left);
    if (!turn) return;
    (void)measured_ceilings(contract.device, contract.device_kind, false, aside);
    if (left) queue.leave(*turn, std::move(left));
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
