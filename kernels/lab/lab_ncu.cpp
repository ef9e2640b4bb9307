// Counters of a version by Nsight Compute, which runs around the worker.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/counters/metrics.h"
#include "kernels/counters/ncu.h"
#include "kernels/counters/ncu_report.h"
#include "kernels/lab/laboratory.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

constexpr int kNcuSlowdown =
    10;  // for deadlines: a call runs once per pass, restoring memory in between
constexpr milliseconds kNcuStart(180'000);
constexpr milliseconds kWriting(120'000);
constexpr std::size_t kLargestNcuReport = std::size_t{64}
                                          << 20U;  // the most a run's ledger accepts
constexpr std::size_t kMostLog = std::size_t{1} << 20U;

/// Adds launch facts that ncu did not report, from our own activity records.
void complete(std::vector<KernelCounters>& kernels, const std::vector<KernelCounters>& seen) {
  if (kernels.size() != seen.size()) return;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].name == seen[i].name)
      kernels[i].metrics.insert(seen[i].metrics.begin(), seen[i].metrics.end());
}

/// Keeps only requested metrics; others of the set's sections remain in the report file.
void keep_asked(std::vector<KernelCounters>& kernels, const std::vector<std::string>& names) {
  for (auto& kernel : kernels)
    std::erase_if(kernel.metrics, [&](const auto& metric) {
      return std::ranges::find(names, metric.first) == names.end();
    });
}

Result<WorkerSpec> ncu_spec(LabParts& lab, const Contract& contract, const Candidate& candidate,
                            std::int64_t arena_bytes) {
  const auto where = lab.place(contract.device_kind, contract.device);
  if (!is_python(contract.implementation)) return worker_spec(where, "profiled", arena_bytes);
  auto spec = lab.python_of(contract).alone_spec(where, "profiled", candidate.source);
  spec.furnish = [furnish = spec.furnish, cache = lab.cache_of(candidate.build.build_key)](
                     const std::filesystem::path& to) -> Status {
    if (auto written = furnish(to); !written) return written;
    return cache.furnish(to);
  };
  return spec;
}

Status take_report(LabParts& lab, const std::filesystem::path& folder, const std::string& log,
                   const std::vector<std::string>& names, Profile& profile,
                   const CallContext& call) {
  const auto& toolchain = lab.builder.toolchain();
  const auto without = [&](std::string why) {
    profile.degraded = true;
    profile.degraded_reason = std::move(why);
    return Status{};
  };
  auto content = read_file(folder / kNcuReport, kLargestNcuReport);
  if (!content && content.error().code == ErrorCode::too_large)
    return without(
        "ncu's report is too large to keep: profile fewer launches, or use the metric set lean");
  if (!content) return without(ncu_trouble(log));
  auto page = ncu_raw_page(*content, kNcuReport, toolchain, call.stop());
  if (!page) return without(page.error().message);
  auto report = read_ncu_csv(*page);
  if (!report) return without(report.error().message);
  keep_asked(report->kernels, names);
  complete(report->kernels, profile.kernels);
  profile.kernels = std::move(report->kernels);
  profile.engine = "ncu";
  profile.cache = "flushed";
  profile.unknown_metrics.clear();
  for (const auto& name : names)
    if (std::ranges::none_of(profile.kernels,
                             [&](const auto& kernel) { return kernel.metrics.contains(name); }))
      profile.unknown_metrics.push_back(name);
  profile.report =
      ReportFile{kNcuReport, sha256_hex(*content), static_cast<std::int64_t>(content->size()),
                 ncu_name(*toolchain.ncu), *std::move(content)};
  return {};
}

}  // namespace

Status LabParts::check_engine(const Contract& contract, CounterEngine engine) const {
  if (engine == CounterEngine::cupti) return {};
  if (contract.device_kind != DeviceKind::cuda)
    return invalid_argument(
        "engine: ncu profiles GPU kernels; this run's kernels run on the processor",
        "Leave engine out.");
  if (!builder.toolchain().ncu) return ncu_missing();
  return {};
}

Status LabParts::count_with_ncu(const Contract& contract, const ProfileRequest& request,
                                Profile& profile, const CallContext& call) {
  const auto& toolchain = builder.toolchain();
  const auto degrade = [&](std::string why) {
    profile.degraded = true;
    profile.degraded_reason = std::move(why);
    return Status{};
  };
  const auto& dims = contract.cases.front().dims;
  const auto plan = call_plan_of(contract, dims);
  if (!plan) return plan.error();
  auto arena = throwaway_arena(contract, *plan, dims, call);
  if (!arena) return arena.error();
  auto start = start_plan(contract, *request.candidate, CandidateProcess::Use::count, 1, call);
  if (!start) return start.error();
  auto spec = ncu_spec(*this, contract, *request.candidate, plan->layout.bytes);
  if (!spec) return spec.error();
  const auto names = request.names.empty() ? metric_names(request.metrics, contract.device_kind)
                                           : with_launch_facts(request.names, contract.device_kind);
  const auto set = request.names.empty() ? request.metrics : MetricSet::lean;
  const auto command = ncu_command(*toolchain.ncu, set, names);
  spec->argv.insert(spec->argv.begin(), command.begin(), command.end());
  spec->start_deadline = kNcuStart;
  spec->resident_bytes.reset();  // ncu keeps copies of the kernel's memory
  auto process = CandidateProcess::launch(*spec, options.job_deadline * kNcuSlowdown);
  if (!process) return process.error();
  if (auto loaded = process->load(start->code, call); !loaded)
    return degrade(loaded.error().message);
  profile.exceptions = {
      "ncu runs outside the sandbox. Its library runs in the kernel's process, connected to ncu by "
      "a "
      "socket that was opened before the kernel was loaded; the process: " +
      process->sandbox()};
  if (!process->fault()) {
    auto executed = process->execute(*plan, *arena, 0, call);
    if (!executed) return executed.error();
  }
  const auto& folder = process->finished(kWriting);
  const auto log = read_file(folder / kNcuLog, kMostLog).value_or("");
  if (const auto& fault = process->fault())
    return degrade("the kernel failed under ncu: " +
                   behind_fence(fault->message + ". " + log.substr(0, 2000)));
  return take_report(*this, folder, log, names, profile, call);
}

}  // namespace ratchet
