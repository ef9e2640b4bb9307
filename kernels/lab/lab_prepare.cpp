// Makes a new run's parts ready side by side: each of them takes seconds.

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kernels/judge/device_trials.h"
#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"
#include "server/core/clock.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

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

/// A part of the preparation on a thread of its own, and how long it took.
class Part {
 public:
  Part(std::string name, std::function<void()> work)
      : name_(std::move(name)), took_(std::async(std::launch::async, [work = std::move(work)] {
          const auto begin = steady_clock::now();
          work();
          return milliseconds_since(begin);
        })) {}

  void wait() const { took_.wait(); }
  /// Waits, once.
  [[nodiscard]] SpentStep spent() { return {name_, took_.get()}; }

 private:
  std::string name_;
  std::future<double> took_;
};

}  // namespace

void Laboratory::expect_run() {
  const std::lock_guard lock(guard);
  if (expecting.joinable()) return;
  expecting = std::jthread([this](const std::stop_token& stop) {
    const CallContext call({}, stop);
    const auto gpu = greeting(DeviceKind::cuda, 0, call);
    auto& python = gpu ? cuda_python : host_python;
    if (builder.toolchain().python_packages.contains("torch")) python.begin_import("torch");
    // What fails here fails again in the run, and says so.
    if (gpu)
      warm_device_judge({place(DeviceKind::cuda, 0), builder, python, options.data_dir},
                        gpu->device.arch, call);
  });
}

Result<PreparedTask> Laboratory::prepare(const Contract& contract, CallContext& call) {
  std::stop_source over;
  const std::stop_callback canceled(call.stop(), [&over] { over.request_stop(); });
  CallContext aside({}, over.get_token());
  const auto parts = reference_parts(contract);
  Part reference(contract.reference_kind == ReferenceKind::python ? "importing for the reference"
                                                                  : "compiling the reference",
                 [&] { warm_reference(parts, contract, aside); });
  Part judge("compiling the judge", [&] {
    if (answers_on_device(contract)) warm_device_judge(parts, contract.arch, aside);
  });
  double opening_ms = 0;
  Part opened("", [&] {
    reference.wait();
    judge.wait();
    const auto begin = steady_clock::now();
    open_judge_ahead(*this, contract, aside);
    opening_ms = milliseconds_since(begin);
  });
  // The device is idle while compilers work. On the processor roofs want it for themselves.
  Part roofs("measuring roofs", [&] {
    if (contract.device_kind == DeviceKind::host) return;
    std::unique_ptr<DeviceQueue::Left> left;  // most runs find roofs that are known
    const auto turn = queue.wait(contract.device_kind, contract.device, aside, &left);
    if (!turn) return;
    (void)measured_ceilings(contract.device, contract.device_kind, false, aside);
    queue.give_back(*turn, std::move(left));
  });
  std::optional<Result<Environment>> found;
  Part probed("probing", [&] { found = environment(contract.device, aside); });

  const auto begin = steady_clock::now();
  auto kernel = build(contract, contract.kernel, call);
  const SpentStep compiled{"compiling", milliseconds_since(begin)};
  if (!kernel || !kernel->build.ok) over.request_stop();
  if (!kernel) return kernel.error();
  if (!kernel->build.ok) return PreparedTask{{}, *std::move(kernel)};
  opened.wait();  // before the parts that it waits for are asked
  Spent spent{compiled, reference.spent(), judge.spent(), probed.spent(), roofs.spent()};
  spent.push_back({"starting judge and reference", opening_ms});
  if (!*found) return found->error();
  return PreparedTask{**std::move(found), *std::move(kernel), std::move(spent)};
}

}  // namespace ratchet
