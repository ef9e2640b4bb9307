// Time, counters and diagnosis of one version.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels/contract/layout.h"
#include "kernels/counters/hot_code.h"
#include "kernels/counters/hotspots.h"
#include "kernels/counters/metrics.h"
#include "kernels/diagnosis/diagnosis.h"
#include "kernels/diagnosis/roofline.h"
#include "kernels/diagnosis/roofline_report.h"
#include "kernels/diagnosis/verification.h"
#include "kernels/disassembly/machine_code.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/judge/verdicts.h"
#include "kernels/lab/interventions.h"
#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"
#include "kernels/lab/neighbors.h"
#include "kernels/lab/over_values.h"
#include "kernels/lab/physics.h"
#include "server/core/clock.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

// Times of one kernel on two inputs differ by less, unless the amount of work depends on the
// inputs.
constexpr double kMostDrift = 1.25;

/// Whether the clock was set differently since the roofs were measured: it is outside of what their
/// units ran at. `known`: clocks for which they were measured again already; a kernel that draws
/// more power than any unit stays where it is.
bool clock_moved(const std::vector<Ceiling>& roofs, const std::optional<Megahertz>& seen,
                 const std::vector<double>& known) {
  constexpr double kSame = 0.1;  // the variation caused by power and temperature
  std::vector<double> then;
  for (const auto& roof : roofs)
    if (roof.what.starts_with("sm_clock")) then.push_back(roof.value);
  if (!seen || then.empty()) return false;
  const auto [least, most] = std::ranges::minmax(then);
  if (seen->value >= least * (1 - kSame) && seen->value <= most * (1 + kSame)) return false;
  return std::ranges::none_of(known,
                              [&](double one) { return std::abs(seen->value / one - 1) <= kSame; });
}

/// Says where a clock or the noise leaves less to be seen than was asked for.
void note_resolution(const Contract& contract, Profile& profile) {
  constexpr double kMuch = 1.5;  // times the threshold
  if (contract.device_kind == DeviceKind::cuda && !profile.timing.clock)
    profile.timing.flags.emplace_back(kClockUnknown);
  const double asked = contract.noise_threshold_pct / 100;
  if (std::ranges::any_of(profile.comparisons,
                          [&](const Comparison& one) { return one.noise_floor > kMuch * asked; }))
    profile.timing.flags.emplace_back(kNoiseAboveThreshold);
}

void add_roofline_metrics(Profile& profile) {
  profile.metrics = device_independent_metrics(profile.timing, profile.roofline);
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) profile.metrics[name] = *value;
  };
  add("bandwidth_fraction", profile.roofline.bandwidth_fraction);
  add("compute_fraction", profile.roofline.compute_fraction);
}

bool wants_samples(const ProfileRequest& request) {
  return request.names.empty() &&
         (request.metrics == MetricSet::stalls || request.metrics == MetricSet::full);
}

/// The profile of a kernel that failed or cheated while it was timed.
void make_invalid(Profile& profile, std::vector<Reason> reasons, CandidateProcess& process) {
  profile.verdict = Verdict::invalid;
  profile.reasons = std::move(reasons);
  profile.fault = process.fault();
  profile.engine = "none";
  profile.cache = "as_is";
}

/// Maps samples to source lines by the disassembled code.
Hotspots hotspots_of(LabParts& lab, const Contract& contract, const Candidate& candidate,
                     const wire::PcSamples& samples, const CallContext& call) {
  if (samples.unavailable) return hotspots_from(samples, {});
  auto listing = lab.listing_of(contract, candidate, CodeView::sass, call);
  if (!listing) return hotspots_from(samples, {});
  const auto functions = read_code(listing->text, CodeKind::sass);
  return hotspots_from(samples, functions);
}

/// What the sampled instructions of a host kernel do becomes metrics beside the counters.
void add_hot_code(LabParts& lab, const Contract& contract, const Candidate& candidate,
                  const wire::PcSamples& samples, Profile& profile, const CallContext& call) {
  if (profile.kernels.empty()) return;
  const auto listing = lab.listing_of(contract, candidate, CodeView::sass, call);
  std::vector<CodeFunction> functions;
  if (listing) functions = read_code(listing->text, CodeKind::host);
  profile.kernels.front().metrics.merge(hot_code_metrics(samples, functions));
  if (samples.unavailable) profile.unknown_metrics.emplace_back("samples");
}

/// An idle process for counters, the code to load into it, the arenas to call it on, who takes the
/// time, and where the launches go.
struct Counting {
  CandidateProcess& process;
  const CandidateProcess::Code& code;
  TimedArenas& arenas;
  Stopwatch& watch;
  std::vector<LaunchTime>& launched;
};

Status count(LabParts& lab, const Contract& contract, const ProfileRequest& request,
             const Counting& counting, Profile& profile, const CallContext& call) {
  profile.engine = "none";
  profile.cache = "as_is";
  const auto degrade = [&](std::string why) {
    profile.degraded = true;
    profile.degraded_reason = std::move(why);
    return Status{};
  };
  call.progress(0, std::nullopt, "reading counters");
  auto& process = counting.process;
  const bool by_ncu = request.engine == CounterEngine::ncu;
  auto names = request.names.empty() ? metric_names(request.metrics, contract.device_kind)
                                     : with_launch_facts(request.names, contract.device_kind);
  // Launches and their spans are observed here in any case.
  if (by_ncu) names.clear();
  std::optional<wire::Sampling> sampling;
  if (contract.device_kind == DeviceKind::cuda && !by_ncu && wants_samples(request))
    sampling = sampling_of(profile.timing.median);
  if (auto loaded = process.load(counting.code, call); !loaded) return loaded.error();
  if (auto ready = counting.arenas.give(process, call); !ready) return ready;
  auto counted = process.count({profile.metric_set, names, sampling}, call);
  if (!counted) return degrade(counted.error().message);
  if (const auto& fault = process.fault())
    return degrade(
        "the kernel failed while it was counted (reading counters may serialize kernels: a kernel "
        "that waits for another one's work must be launched after it): " +
        fault->text());
  profile.kernels = std::move(counted->kernels);
  profile.unknown_metrics = std::move(counted->unknown_metrics);
  profile.engine = counted->engine;
  profile.cache = counted->cache;
  profile.counted_together = std::move(counted->together);
  profile.launches = static_cast<int>(counted->launches.size());
  if (!profile.counted_together)
    for (const auto& one : counted->launches)
      counting.launched.push_back(
          {one.kernel, std::accumulate(one.grid.begin(), one.grid.end(), 1.0, std::multiplies{}),
           one.end_ns - one.start_ns});
  if (auto reason = reason_of_spans(counted->calls, profile.timing.median.value)) {
    profile.verdict = Verdict::invalid;
    profile.reasons.push_back(*std::move(reason));
  }
  if (counted->samples) counting.watch.begin("disassembling");
  if (counted->samples && contract.device_kind == DeviceKind::host)
    add_hot_code(lab, contract, *request.candidate, *counted->samples, profile, call);
  else if (counted->samples)
    profile.hotspots = hotspots_of(lab, contract, *request.candidate, *counted->samples, call);
  if (by_ncu) {
    (void)process.left_behind();  // ends it before ncu reads the counters
    profile.engine = "none";
    return lab.count_with_ncu(contract, request, profile, call);
  }
  if (counted->unavailable) return degrade(*counted->unavailable);
  return {};
}

/// The time of a kernel that finds its inputs in a cache is not the one that was asked for.
void note_warmth(const Contract& contract, Profile& profile) {
  const auto layout = layout_of(contract, contract.cases.front().dims);
  if (profile.kernels.empty() || !layout) return;
  double inputs = 0;
  for (const auto& buffer : layout->buffers)
    if (buffer.role != Role::out) inputs += static_cast<double>(buffer.bytes());
  if (!warm_when_timed(profile.kernels.front().metrics, inputs)) return;
  profile.timing.flags.emplace_back(kWarmWhenTimed);
  for (auto& comparison : profile.comparisons) {
    add_flag(comparison, kWarmWhenTimed);
    if (comparison.verdict == Verdict::faster) comparison.verdict = Verdict::inconclusive;
  }
  if (profile.verdict == Verdict::faster) profile.verdict = Verdict::inconclusive;
}

/// What a host kernel moves at least becomes metrics: every tensor once.
void add_tensor_rates(const Contract& contract, const std::vector<Ceiling>& roofs,
                      Profile& profile) {
  const auto layout = layout_of(contract, contract.cases.front().dims);
  const double median_ns = profile.timing.median.value;
  if (!layout || profile.kernels.empty() || median_ns <= 0) return;
  auto& metrics = profile.kernels.front().metrics;
  const double bytes = tensor_bytes(*layout);
  metrics["tensor_bytes"] = bytes;
  for (const auto& [what, name] : {std::pair{"copy_bandwidth", "tensor_bandwidth.pct"},
                                   std::pair{"core_copy_bandwidth", "tensor_bandwidth_core.pct"}})
    if (const auto roof = std::ranges::find(roofs, what, &Ceiling::what); roof != roofs.end())
      metrics[name] = 100 * bytes / (median_ns * 1e-9) / roof->value;
}

/// The device's; another's may be added at the same time.
std::vector<double>& clocks_of_roofs(LabParts& lab, const Contract& contract) {
  const std::lock_guard lock(lab.guard);
  return lab.clocks_of_roofs[{contract.device_kind, contract.device}];
}

Status diagnose_profile(LabParts& lab, const Contract& contract, const ProfileRequest& request,
                        const DeviceInfo& device, std::span<const LaunchTime> launched,
                        Diagnosis& diagnosis, Profile& profile, const CallContext& call) {
  auto roofs = lab.measured_ceilings(contract.device, contract.device_kind, false, call);
  auto& known = clocks_of_roofs(lab, contract);
  if (roofs && clock_moved(*roofs, profile.timing.clock, known)) {
    known.push_back(profile.timing.clock->value);
    roofs = lab.measured_ceilings(contract.device, contract.device_kind, true, call);
  }
  if (!roofs) return roofs.error();
  auto work = work_of(contract, contract.cases.front().dims);
  if (!work) return work.error();
  if (contract.device_kind == DeviceKind::host) add_tensor_rates(contract, *roofs, profile);
  profile.roofline = place_under_roofs(*work, profile.timing.median, profile.kernels, *roofs);
  add_roofline_metrics(profile);
  profile.roofs = roofline_report({.profile = &profile,
                                   .ceilings = *roofs,
                                   .work = *work,
                                   .multiprocessors = device.multiprocessors});

  DiagnosisInput input;
  input.kind = contract.device_kind;
  input.device = device;
  input.timing = profile.timing;
  input.roofline = profile.roofline;
  input.kernels = profile.kernels;
  input.build = request.candidate->build;
  for (const auto& tensor : contract.tensors) input.dtypes.push_back(tensor.dtype);
  input.launches = profile.launches;
  input.launched = launched;
  diagnosis = diagnose(input);
  return {};
}

void take_diagnosis(Diagnosis diagnosis, Profile& profile) {
  profile.bound = diagnosis.bound;
  profile.bound_evidence = std::move(diagnosis.bound_evidence);
  profile.findings = std::move(diagnosis.findings);
}

/// A kernel that does not need all of its data may be this fast. On new inputs it must be right and
/// as fast again.
Status measure_again(LabParts& lab, const Contract& contract, const ProfileRequest& request,
                     std::string_view run_secret, Profile& profile, const CallContext& call) {
  profile.timing.flags.emplace_back(kImplausiblyFast);
  const Versions alone{{"candidate", request.candidate}};
  SessionPlan plan;
  plan.time_limit = lab.options.timing_limit;
  ProcessesAside none;
  auto session =
      lab.session_of(contract, contract.cases.front().dims, alone, plan, none, run_secret, call);
  if (!session) return session.error();
  const auto& record = session->contestants.front();
  const auto again = timing_of(*session, 0, plan);
  if (record.reasons.empty() && again &&
      again->median.value <= kMostDrift * profile.timing.median.value)
    return {};
  profile.verdict = Verdict::invalid;
  profile.reasons.push_back(
      record.reasons.empty()
          ? Reason{kImplausiblyFast,
                   "it is faster than its data can be moved, but was not so on other inputs",
                   {}}
          : record.reasons.front());
  return {};
}

Status judge_physics(LabParts& lab, const Contract& contract, const DeviceInfo& device,
                     const ProfileRequest& request, std::string_view run_secret, Profile& profile,
                     const CallContext& call) {
  auto judged =
      Physics(lab, contract, device).judge(contract.cases.front().dims, profile.timing, call);
  if (!judged) return judged.error();
  if (judged->measured_again) profile.timing.flags.emplace_back("ceilings_measured_again");
  if (!judged->reason) return {};
  if (!judged->declared) return measure_again(lab, contract, request, run_secret, profile, call);
  profile.verdict = Verdict::invalid;
  profile.reasons.push_back(*std::move(judged->reason));
  return {};
}

}  // namespace

Result<TimedProfile> Laboratory::profile(const Contract& contract, const ProfileRequest& request,
                                         std::string_view run_secret, CallContext& call) {
  const auto begin = steady_clock::now();
  Stopwatch watch;
  watch.begin("waiting");
  if (auto possible = check_engine(contract, request.engine); !possible) return possible.error();
  std::unique_ptr<DeviceQueue::Left> left;
  auto turn = queue.wait(contract.device_kind, contract.device, call, &left);
  if (!turn) return turn.error();
  IdleJudge judge;
  if (auto* const last = left_with(left, judge_terms(contract))) judge = std::move(last->judge);
  left.reset();  // all else that was there ends before anything is timed
  watch.begin("planning");
  auto greeted = greeting(contract.device_kind, contract.device, call);
  if (!greeted) return greeted.error();
  const DeviceInfo device = greeted->device;
  Neighbors neighbors(device, call);
  const bool compares =
      request.parent != nullptr || request.v0 != nullptr || request.best != nullptr;
  // Calibrating the noise, and timing on other values, take longer than all else: v0 goes without.
  SessionPlan plan = session_plan(contract, device, compares, call);
  if (request.seconds) {
    plan.patient = true;
    plan.time_limit = std::chrono::milliseconds(std::llround(1000 * *request.seconds));
  }
  const auto timing_begin = steady_clock::now();
  watch.begin("starting");
  Versions versions{{"candidate", request.candidate}};
  if (request.parent) versions.emplace_back("parent", request.parent);
  if (request.v0) versions.emplace_back("v0", request.v0);
  if (request.best) versions.emplace_back("best", request.best);
  // One more, for the candidate beside itself on other values or under other conditions.
  auto source = ArenaSource::open(reference_parts(contract), contract,
                                  versions.size() + (compares || request.verify ? 1 : 0), call,
                                  std::move(judge));
  if (!source) return source.error();
  // Starts in parallel with the others. The kernel is loaded into it only after they have ended.
  auto counting = start_plan(contract, *request.candidate, CandidateProcess::Use::count,
                             TimedArenas::kMost + 1, call);
  if (!counting) return counting.error();
  auto counter = CandidateProcess::launch(counting->spec, counting->deadline);
  if (!counter) return counter.error();
  auto processes = start_all(contract, versions, call);
  if (!processes) return processes.error();
  if (auto idle = counter->greet(call); !idle) return idle.error();
  watch.begin("making inputs");
  const auto secret = fmt::format("{} {}", run_secret, hex(sha256(random_bytes(16))));
  auto arenas = source->arenas({.dims = contract.cases.front().dims}, secret, call);
  if (!arenas) return arenas.error();
  watch.begin("timing");
  auto session = TimingSession(**arenas, plan).run(contestants_of(versions, *processes), call);
  if (!session) return session.error();

  TimedProfile profile;
  profile.candidate_digest = request.candidate->build.binary_digest;
  profile.metric_set = request.names.empty() ? name_of(request.metrics) : "given";
  profile.timing_ms = milliseconds_since(timing_begin);
  if (const auto& reasons = session->contestants.front().reasons; !reasons.empty()) {
    make_invalid(profile, reasons, processes->front());
    profile.elapsed_ms = milliseconds_since(begin);
    profile.spent = watch.stop();
    return profile;
  }
  auto timing = timing_of(*session, 0, plan);
  if (!timing) return timing.error();
  profile.timing = *std::move(timing);
  take_comparisons(*session, profile);
  note_resolution(contract, profile);
  if (compares) {
    watch.begin("timing over values");
    if (auto done = OverValues(*this, contract, *source, secret, call)
                        .measure(versions, *processes, plan, request.search, profile);
        !done)
      return done.error();
  }
  neighbors.look_again();
  neighbors.note(profile.timing);
  for (auto& comparison : profile.comparisons) neighbors.note(comparison);
  if (profile.own_noise) {
    profile.timing.flags.emplace_back(kOwnNoise);
    for (auto& comparison : profile.comparisons) hold_against_own(*profile.own_noise, comparison);
  }
  if (flag_resolution(contract.device_kind, profile.timing))
    for (auto& comparison : profile.comparisons) judge_resolution(profile.timing, comparison);
  if (!profile.comparisons.empty() && profile.verdict != Verdict::invalid)
    profile.verdict = profile.comparisons.front().verdict;
  watch.begin("counting");
  processes->clear();  // counting never shares the machine with a timed process

  std::vector<LaunchTime> launched;
  const Counting counts{*counter, counting->code, **arenas, watch, launched};
  if (auto done = count(*this, contract, request, counts, profile, call); !done)
    return done.error();
  watch.begin("diagnosing");
  note_warmth(contract, profile);
  Diagnosis diagnosis;
  if (auto done =
          diagnose_profile(*this, contract, request, device, launched, diagnosis, profile, call);
      !done)
    return done.error();
  if (request.verify) {
    watch.begin("verifying");
    (void)counter->left_behind();  // ends it: a timed process shares the machine with none
    auto found = Interventions(*this, contract, *source, secret, call)
                     .measure({*request.candidate, profile, diagnosis.findings, device}, plan);
    if (!found) return found.error();
    verify(*found, diagnosis);
  }
  take_diagnosis(std::move(diagnosis), profile);
  watch.begin("judging");
  if (auto done = judge_physics(*this, contract, device, request, run_secret, profile, call); !done)
    return done.error();
  profile.elapsed_ms = milliseconds_since(begin);
  profile.spent = watch.stop();
  if (!compares) calibrate_when_idle(device);
  return profile;
}

}  // namespace ratchet
