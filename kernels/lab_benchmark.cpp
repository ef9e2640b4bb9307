// The final comparison: the candidate against its ancestors and against frameworks.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <utility>

#include "kernels/laboratory.h"
#include "kernels/statistics.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

BenchmarkRow row_of(std::string name, std::string status, const Dims& dims) {
  BenchmarkRow row;
  row.name = std::move(name);
  row.status = std::move(status);
  row.dims = dims;
  return row;
}

BenchmarkRow unavailable(std::string name, std::string status, std::string why, const Dims& dims) {
  auto row = row_of(std::move(name), std::move(status), dims);
  row.detail = std::move(why);
  return row;
}

void add_speedups(BenchmarkRow& row, const Timing& candidate) {
  if (!row.timing || candidate.mean.value <= 0 || candidate.median.value <= 0) return;
  row.speedup_mean = row.timing->mean.value / candidate.mean.value;
  row.speedup_median = row.timing->median.value / candidate.median.value;
}

/// The candidate's row of a case, which the other rows are held against.
const Timing* candidate_timing(const BenchmarkReport& report, const Dims& dims) {
  for (const auto& row : report.rows)
    if (row.name == "candidate" && row.dims == dims && row.timing) return &*row.timing;
  return nullptr;
}

/// One row per contestant of a case's session, the candidate's first.
void add_rows(const SessionRecord& session, const SessionPlan& plan, const Dims& dims,
              BenchmarkReport& report) {
  const bool candidate_failed = !session.contestants.front().reasons.empty();
  for (std::size_t i = 0; i < session.contestants.size(); ++i) {
    const auto& record = session.contestants[i];
    if (!record.reasons.empty()) {
      report.rows.push_back(
          unavailable(record.name, "failed", record.reasons.front().message, dims));
      continue;
    }
    auto row = row_of(record.name, "ok", dims);
    auto timing = timing_of(session, i, plan);
    if (timing) row.timing = *std::move(timing);
    if (i > 0 && !candidate_failed) {
      auto compared = comparison_of(session, i);
      if (compared) row.comparison = *std::move(compared);
      if (const auto* candidate = candidate_timing(report, dims)) add_speedups(row, *candidate);
    }
    report.rows.push_back(std::move(row));
  }
  report.correct = report.correct && !candidate_failed;
}

/// Weighted geometric mean of the first baseline's speed-ups; empty unless every case has one.
std::optional<double> geomean_over(const BenchmarkReport& report, const Contract& contract,
                                   const std::vector<std::string>& baselines) {
  if (baselines.empty()) return std::nullopt;
  std::vector<double> speedups;
  std::vector<double> weights;
  for (const auto& one : contract.cases) {
    if (one.hidden) continue;
    const auto found = std::ranges::find_if(report.rows, [&](const BenchmarkRow& row) {
      return row.name == baselines.front() && row.dims == one.dims;
    });
    if (found == report.rows.end() || !found->speedup_median) return std::nullopt;
    speedups.push_back(*found->speedup_median);
    weights.push_back(one.weight);
  }
  return geometric_mean(speedups, weights);
}

}  // namespace

Result<BenchmarkReport> Laboratory::benchmark(const Contract& contract,
                                              const BenchmarkRequest& request,
                                              std::string_view run_secret, CallContext& call) {
  const auto begin = steady_clock::now();
  auto turn = queue_.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto judge = Judge::open(parts(contract), contract, call);
  if (!judge) return judge.error();
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
  for (const auto& one : contract.cases) {
    if (one.hidden) continue;
    auto done = benchmark_case(contract, request, one, run_secret, **judge, report, call);
    if (!done) return done.error();
  }
  report.geomean = geomean_over(report, contract, request.baselines);
  report.elapsed_ms =
      std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
  return report;
}

Status Laboratory::benchmark_case(const Contract& contract, const BenchmarkRequest& request,
                                  const Case& one, std::string_view run_secret, Judge& judge,
                                  BenchmarkReport& report, const CallContext& call) {
  Versions versions{{"candidate", request.candidate}};
  if (request.v0) versions.emplace_back("v0", request.v0);
  if (request.parent) versions.emplace_back("parent", request.parent);
  auto trials = timing_trials(judge, contract, one.dims, *request.candidate, run_secret,
                              versions.size() + request.baselines.size(), call);
  if (!trials) return trials.error();
  auto processes = start_all(contract, versions, trials->size(), call);
  if (!processes) return processes.error();
  std::vector<BenchmarkRow> missing;
  for (const auto& name : request.baselines) {
    auto baseline = start_baseline(contract, name, static_cast<int>(trials->size()) + 1, call);
    if (baseline) {
      versions.emplace_back(name, nullptr);
      processes->push_back(*std::move(baseline));
    } else if (baseline.error().code == ErrorCode::unavailable) {
      missing.push_back(unavailable(name, "missing", baseline.error().message, one.dims));
    } else {
      return baseline.error();
    }
  }
  SessionPlan plan;
  plan.cache_mode = request.cache_mode;
  plan.host_time = request.host_time;
  plan.prewarm = request.prewarm_calls + request.num_warmup;
  plan.samples = std::max(1, request.num_trials);
  plan.discard_first = request.discard_first;
  plan.least_noise = std::max(kLeastNoise, contract.noise_threshold_pct / 100);
  auto session =
      TimingSession(judge, *trials, plan).run(contestants_of(versions, *processes), call);
  if (!session) return session.error();

  add_rows(*session, plan, one.dims, report);
  std::ranges::move(missing, std::back_inserter(report.rows));
  return {};
}

}  // namespace ratchet
