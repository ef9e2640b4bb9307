// The final comparison: the candidate against its ancestors and against frameworks.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "kernels/build/target.h"
#include "kernels/contract/layout.h"
#include "kernels/lab/laboratory.h"
#include "kernels/lab/neighbors.h"
#include "kernels/lab/physics.h"
#include "kernels/process/energy_meter.h"
#include "kernels/timing/energy.h"
#include "kernels/timing/statistics.h"
#include "kernels/timing/sustained.h"
#include "server/core/clock.h"
#include "server/core/figures.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "server/facts/workload_gain.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr const char* kCandidate = "candidate";
constexpr const char* kVendor = "vendor";
constexpr double kMemoryShare = 0.9;  // the rest is for contexts and code
constexpr double kGibi = 1024.0 * 1024 * 1024;

BenchmarkRow row_of(std::string name, std::string status, const Dims& dims) {
  BenchmarkRow row;
  row.name = std::move(name);
  row.status = std::move(status);
  row.dims = dims;
  return row;
}

BenchmarkRow unmeasured(std::string name, std::string status, std::string why, const Dims& dims) {
  auto row = row_of(std::move(name), std::move(status), dims);
  row.detail = std::move(why);
  return row;
}

void add_speedups(BenchmarkRow& row, const Timing& candidate) {
  if (!row.timing || candidate.mean.value <= 0 || candidate.median.value <= 0) return;
  row.speedup_mean = row.timing->mean.value / candidate.mean.value;
  row.speedup_median = row.timing->median.value / candidate.median.value;
}

/// What the clock that takes times adds to them, and what the device's own clock was.
void note_instrument(const BenchmarkRow& row, BenchmarkReport& report) {
  const Timing& timing = *row.timing;
  const auto begin = fmt::format("{}: {}: ", dims_text(row.dims), row.name);
  if (timing.has_flag(kTracingBias))
    report.notes.push_back(fmt::format(
        "{}a call launches several kernels, and recording them may have added up to {} ({:.1f} %) "
        "to it: a gain by fewer kernels within that is not told",
        begin, time_text(*timing.tracing_ns), 100 * *timing.tracing_ns / timing.median.value));
  if (timing.has_flag(kPowerLimited) && timing.clock && timing.device_clock)
    report.notes.push_back(
        fmt::format("{}power or heat held the clock at {:.0f} of at most {:.0f} "
                    "MHz",
                    begin, timing.clock->value, timing.device_clock->value));
}

/// The candidate's row of a case, to which the other rows are compared.
const Timing* candidate_timing(const BenchmarkReport& report, const Dims& dims) {
  for (const auto& row : report.rows)
    if (row.name == kCandidate && row.dims == dims && row.timing) return &*row.timing;
  return nullptr;
}

/// One row per contestant of a case's session, the candidate's first.
void add_rows(const Contract& contract, const SessionRecord& session, const SessionPlan& plan,
              const Dims& dims, BenchmarkReport& report) {
  const bool candidate_failed = !session.contestants.front().reasons.empty();
  for (std::size_t i = 0; i < session.contestants.size(); ++i) {
    const auto& record = session.contestants[i];
    if (!record.reasons.empty()) {
      report.rows.push_back(unmeasured(record.name, "failed", record.reasons.front().text(), dims));
      continue;
    }
    auto row = row_of(record.name, "ok", dims);
    auto timing = timing_of(session, i, plan);
    if (timing) row.timing = *std::move(timing);
    if (row.timing && flag_resolution(contract.device_kind, *row.timing))
      report.notes.push_back(fmt::format("{}: {} takes {:.0f} ns, too short for the clock",
                                         dims_text(dims), record.name, row.timing->median.value));
    if (row.timing) note_instrument(row, report);
    if (i > 0 && !candidate_failed) {
      auto compared = comparison_of(session, i);
      if (compared) row.comparison = *std::move(compared);
      if (row.comparison && row.timing) judge_resolution(*row.timing, *row.comparison);
      if (const auto* candidate = candidate_timing(report, dims)) add_speedups(row, *candidate);
    }
    report.rows.push_back(std::move(row));
  }
  report.correct = report.correct && !candidate_failed;
}

/// Holds the rows of a case, whose processes have ended, against what the device can do. A row that
/// is faster than its declared work allows does not count; without declared work that is a caveat,
/// as a kernel may not need all of its data: its answers on these inputs were right.
void judge_rows(Physics& physics, std::span<BenchmarkRow> rows, BenchmarkReport& report,
                const CallContext& call) {
  for (auto& row : rows) {
    // Data that stays from call to call may lie in a cache whose roof nobody measured.
    if (!row.timing || row.timing->cache_mode != CacheMode::cold) continue;
    auto judged = physics.judge(row.dims, *row.timing, call);
    if (!judged) {
      report.notes.push_back(fmt::format("{}: {} was not held against what the device can do: {}",
                                         dims_text(row.dims), row.name, judged.error().message));
      continue;
    }
    if (!judged->reason) continue;
    if (!judged->declared) {
      row.timing->flags.emplace_back(kImplausiblyFast);
      report.notes.push_back(fmt::format(
          "{}: {} is faster than all of its tensors can be moved ({}); declare work if it needs "
          "only a part",
          dims_text(row.dims), row.name, judged->reason->message));
      continue;
    }
    row = unmeasured(row.name, "failed", judged->reason->text(), row.dims);
    if (row.name != kCandidate) continue;
    report.correct = false;
    for (auto& other : rows) {
      other.comparison.reset();
      other.speedup_mean.reset();
      other.speedup_median.reset();
    }
  }
}

/// The paired speed-up of a row, else the ratio of the medians.
std::optional<double> speedup_of(const BenchmarkRow& row) {
  if (row.comparison) return row.comparison->speedup;
  return row.speedup_median;
}

/// The candidate against one other over the workload; empty unless every case has both.
std::optional<BenchmarkGain> gain_over(const BenchmarkReport& report, const Contract& contract,
                                       const std::string& other) {
  BenchmarkGain gain;
  gain.against = other;
  std::vector<double> speedups;
  std::vector<double> weights;
  for (const auto& one : contract.cases) {
    if (one.hidden) continue;
    const auto found = std::ranges::find_if(report.rows, [&](const BenchmarkRow& row) {
      return row.name == other && row.dims == one.dims;
    });
    const auto speedup = found == report.rows.end() ? std::nullopt : speedup_of(*found);
    if (!speedup) return std::nullopt;
    if (speedups.empty() || *speedup > gain.best) {
      gain.best = *speedup;
      gain.best_dims = one.dims;
    }
    if (speedups.empty() || *speedup < gain.worst) {
      gain.worst = *speedup;
      gain.worst_dims = one.dims;
    }
    speedups.push_back(*speedup);
    weights.push_back(one.weight);
  }
  if (speedups.empty()) return std::nullopt;
  gain.geomean = geometric_mean(speedups, weights);
  if (const auto paired = workload_gain(report, contract, other); paired.missing == 0) {
    gain.low = paired.low;
    gain.high = paired.high;
  }
  return gain;
}

void add_gains(const Contract& contract, std::vector<std::string> baselines,
               BenchmarkReport& report) {
  std::vector<std::string> others;
  for (const auto& row : report.rows)
    if (row.name != kCandidate && std::ranges::find(others, row.name) == others.end())
      others.push_back(row.name);
  for (const auto& other : others)
    if (auto gain = gain_over(report, contract, other)) report.gains.push_back(*std::move(gain));
  baselines.emplace_back("v0");
  for (const auto& against : baselines) {
    const auto gain = std::ranges::find(report.gains, against, &BenchmarkGain::against);
    if (gain == report.gains.end()) continue;
    report.geomean = gain->geomean;
    report.geomean_against = against;
    return;
  }
}

/// Why this case cannot be benchmarked; empty if it can.
std::optional<std::string> too_large(const Contract& contract, const Dims& dims,
                                     std::size_t contestants, const DeviceInfo& device) {
  const auto layout = layout_of(contract, dims);
  if (!layout) return layout.error().message;
  // Each contestant holds at least one arena, and the server holds the contents and the answer.
  const double needed = static_cast<double>(layout->bytes) * static_cast<double>(contestants + 2);
  const double most = kMemoryShare * static_cast<double>(device.memory_bytes);
  if (device.memory_bytes <= 0 || needed <= most) return std::nullopt;
  return fmt::format("{} contestants need {:.1f} GiB; the device has {:.1f} GiB", contestants,
                     needed / kGibi, static_cast<double>(device.memory_bytes) / kGibi);
}

/// The contestants of one case's benchmark, and those that could not start.
struct BenchmarkField {
  std::vector<std::string> names;
  std::vector<CandidateProcess> processes;  // parallel to `names`
  std::vector<BenchmarkRow> absent;

  [[nodiscard]] std::vector<Contestant> contestants() {
    std::vector<Contestant> all;
    for (std::size_t i = 0; i < names.size(); ++i) all.push_back({names[i], &processes[i]});
    return all;
  }
};

/// The vendor library call of a shipped problem. Error `unavailable`: not available here.
Result<Candidate> vendor_of(LabParts& lab, const Contract& contract, CallContext& call) {
  if (contract.device_kind != DeviceKind::cuda)
    return unavailable("there is no vendor library for the host");
  const auto text =
      contract.problem.empty()
          ? Result<std::string>(unavailable(""))
          : read_file(lab.options.data_dir / "problems" / contract.problem / "vendor.cu");
  if (!text)
    return unavailable("the task names no vendor library: it is not a shipped problem with one");
  Contract vendor = contract;
  vendor.implementation = Implementation::cuda_cpp;
  vendor.entry = "solve";
  vendor.launch.reset();
  vendor.flags.clear();
  auto built = lab.build(vendor, {"vendor.cu", *text, ""}, call);
  if (!built) return built.error();
  if (!built->build.ok)
    return unavailable("the vendor library's caller does not build here: " +
                       (built->build.errors.empty()
                            ? built->build.error_class.value_or("build error")
                            : built->build.errors.front().text()));
  return built;
}

Result<CandidateProcess> start_vendor(LabParts& lab, const Contract& contract, int arenas,
                                      CallContext& call) {
  auto vendor = vendor_of(lab, contract, call);
  if (!vendor) return vendor.error();
  Contract as_cuda = contract;
  as_cuda.implementation = Implementation::cuda_cpp;
  as_cuda.entry = "solve";
  return lab.start(as_cuda, *vendor, CandidateProcess::Use::time, arenas, call);
}

/// Baselines that are missing or fail to start become rows; only a canceled call is an error.
Status add_baselines(LabParts& lab, const Contract& contract, const BenchmarkRequest& request,
                     const Dims& dims, BenchmarkField& field, CallContext& call) {
  for (const auto& name : request.baselines) {
    if (call.canceled())
      return Error{ErrorCode::timed_out, "the call was canceled while baselines started"};
    auto started = name == kVendor ? start_vendor(lab, contract, kMostArenas, call)
                                   : lab.start_baseline(contract, name, kMostArenas, call);
    if (started) {
      field.names.push_back(name);
      field.processes.push_back(*std::move(started));
      continue;
    }
    const bool missing = started.error().code == ErrorCode::unavailable;
    field.absent.push_back(
        unmeasured(name, missing ? "missing" : "failed", started.error().message, dims));
  }
  return {};
}

/// The energy of a call of each contestant that ran, after the sustained session of the first case.
void add_energy(const DeviceInfo& device, const std::vector<Contestant>& contestants,
                const SessionRecord& sustained, const SessionPlan& plan, TimedArenas& arenas,
                const Dims& dims, BenchmarkReport& report, const CallContext& call) {
  const auto note = [&](const std::string& text) {
    report.notes.push_back(fmt::format("{}: energy, sustained: {}", dims_text(dims), text));
  };
  const auto meter = EnergyMeter::open(device);
  if (!meter) return note("not measured: " + meter.error().message);
  const auto read = [&] { return meter->millijoules(); };
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    if (!sustained.contestants[i].reasons.empty()) continue;
    const auto timing = timing_of(sustained, i, plan);
    if (!timing) continue;
    const auto energy =
        energy_of(*contestants[i].process, arenas, read, timing->median.value, call);
    if (call.canceled()) return;
    note(contestants[i].name + ": " +
         (energy ? energy_text(*energy) : "not measured: " + energy.error().message));
    const auto row = std::ranges::find_if(report.rows, [&](const BenchmarkRow& one) {
      return one.name == contestants[i].name && one.dims == dims;
    });
    if (energy && row != report.rows.end()) row->energy = *energy;
  }
}

Status benchmark_case(LabParts& lab, const Contract& contract, const BenchmarkRequest& request,
                      const Case& one, std::string_view run_secret, ArenaSource& source,
                      const Neighbors& neighbors, BenchmarkReport& report, CallContext& call) {
  Versions versions{{kCandidate, request.candidate}};
  if (request.v0) versions.emplace_back("v0", request.v0);
  if (request.parent) versions.emplace_back("parent", request.parent);
  auto device = lab.greeting(contract.device_kind, contract.device, call);
  if (!device) return device.error();
  const std::size_t contestants = versions.size() + request.baselines.size();
  if (auto why = too_large(contract, one.dims, contestants, device->device))
    return Error{ErrorCode::too_large, *std::move(why)};
  auto processes = lab.start_all(contract, versions, call);
  if (!processes) return processes.error();
  BenchmarkField field;
  field.processes = *std::move(processes);
  for (const auto& version : versions) field.names.push_back(version.first);
  if (auto done = add_baselines(lab, contract, request, one.dims, field, call); !done) return done;
  const auto secret = fmt::format("{} {}", run_secret, hex(sha256(random_bytes(16))));
  auto arenas = source.arenas({.dims = one.dims, .values = request.values}, secret, call);
  if (!arenas) return arenas.error();
  SessionPlan plan = lab.session_plan(contract, device->device, true, call);
  plan.cache_mode = request.cache_mode;
  plan.host_time = request.host_time;
  plan.prewarm = request.prewarm_calls + request.num_warmup;
  plan.samples = std::max(1, request.num_trials);
  plan.discard_first = request.discard_first;
  auto session = TimingSession(**arenas, plan).run(field.contestants(), call);
  if (!session) return session.error();

  add_rows(contract, *session, plan, one.dims, report);
  std::ranges::move(field.absent, std::back_inserter(report.rows));
  if (plan.cache_mode != CacheMode::cold || plan.host_time ||
      !session->contestants.front().reasons.empty())
    return {};
  const auto on = sustained_plan(plan);
  const auto sustained = TimingSession(**arenas, on).run(field.contestants(), call);
  if (!sustained) {
    report.notes.push_back(
        fmt::format("{}: not timed sustained: {}", dims_text(one.dims), sustained.error().message));
    return {};
  }
  std::ranges::move(sustained_notes(*session, *sustained, on, one.dims),
                    std::back_inserter(report.notes));
  if (!sustained->contestants.front().reasons.empty()) {
    report.correct = false;
    return {};
  }
  if (device->device.kind != DeviceKind::cuda || &one != &contract.cases.front()) return {};
  if (!neighbors.any())
    add_energy(device->device, field.contestants(), *sustained, on, **arenas, one.dims, report,
               call);
  else
    report.notes.emplace_back(
        "energy: not measured: other processes use the device, and its count is of the whole card; "
        "benchmark again when they have ended");
  return {};
}

}  // namespace

Result<BenchmarkReport> Laboratory::benchmark(const Contract& contract,
                                              const BenchmarkRequest& request,
                                              std::string_view run_secret, CallContext& call) {
  const auto begin = steady_clock::now();
  auto baselines = resolve_baselines(request.baselines);
  if (!baselines) return baselines.error();
  BenchmarkRequest asked = request;
  asked.baselines = *std::move(baselines);
  auto turn = queue.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto device = greeting(contract.device_kind, contract.device, call);
  if (!device) return device.error();
  Neighbors neighbors(device->device, call);
  Physics physics(*this, contract, device->device);
  const std::size_t contestants =
      1 + (request.v0 ? 1 : 0) + (request.parent ? 1 : 0) + asked.baselines.size();
  auto source = ArenaSource::open(reference_parts(contract), contract, contestants, call);
  if (!source) return source.error();
  BenchmarkReport report;
  report.timing_method = request.host_time                          ? "host_time"
                         : contract.device_kind == DeviceKind::host ? "steady_clock"
                                                                    : "cuda_event";
  report.cache_mode = request.cache_mode;
  report.num_warmup = request.num_warmup;
  report.num_trials = request.num_trials;
  report.discard_first = request.discard_first;
  report.prewarm_calls = request.prewarm_calls;
  report.candidate_digest = request.candidate->build.binary_digest;
  report.correct = true;
  if (request.values != kNormalValues)
    report.notes.push_back(fmt::format(
        "timed on {} values, on which the version's profile was judged", request.values));
  for (const auto& one : contract.cases) {
    if (one.hidden) continue;
    const auto first = static_cast<std::ptrdiff_t>(report.rows.size());
    auto done =
        benchmark_case(*this, contract, asked, one, run_secret, *source, neighbors, report, call);
    neighbors.look_again();
    const std::span rows(report.rows.begin() + first, report.rows.end());
    for (auto& row : rows) {
      if (row.timing) neighbors.note(*row.timing);
      if (row.comparison) neighbors.note(*row.comparison);
    }
    judge_rows(physics, rows, report, call);
    if (done) continue;
    if (call.canceled()) return done.error();
    // This case failed; the other cases still count.
    report.rows.push_back(unmeasured(kCandidate, "skipped", done.error().message, one.dims));
    report.notes.push_back(
        fmt::format("{} left out: {}", dims_text(one.dims), done.error().message));
  }
  report.notes.insert(
      report.notes.begin(),
      neighbors.text() + (neighbors.any() ? "; they slow all contestants, and not always alike: "
                                            "benchmark again when they have ended"
                                          : ""));
  add_gains(contract, asked.baselines, report);
  report.elapsed_ms = milliseconds_since(begin);
  return report;
}

}  // namespace ratchet
