// Time, counters and diagnosis of one version.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "kernels/diagnosis.h"
#include "kernels/laboratory.h"
#include "kernels/layout.h"
#include "kernels/metrics.h"
#include "kernels/roofline.h"
#include "kernels/verdicts.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostTrials = 4;
constexpr std::int64_t kTrialMemory = std::int64_t{4} << 30;  // of all contestants together

double elapsed_ms(steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
}

void take_comparisons(const SessionRecord& session, Profile& profile) {
  for (std::size_t i = 1; i < session.contestants.size(); ++i) {
    const auto& other = session.contestants[i];
    auto compared = other.reasons.empty()
                        ? comparison_of(session, i)
                        : Result<Comparison>(Error{ErrorCode::unavailable, "", ""});
    if (compared) {
      profile.comparisons.push_back(*std::move(compared));
      continue;
    }
    // No pair, no verdict: the other version failed now, though it passed before.
    Comparison none;
    none.against = other.name;
    none.noise_floor = session.noise_floor;
    profile.comparisons.push_back(std::move(none));
    if (!other.reasons.empty())
      profile.timing.flags.push_back(other.name + "_failed: " + other.reasons.front().message);
  }
  if (!profile.comparisons.empty()) profile.verdict = profile.comparisons.front().verdict;
}

void add_roofline_metrics(Profile& profile) {
  profile.metrics = device_independent_metrics(profile.timing, profile.roofline);
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) profile.metrics[name] = *value;
  };
  add("bandwidth_fraction", profile.roofline.bandwidth_fraction);
  add("compute_fraction", profile.roofline.compute_fraction);
}

/// A profile of a kernel that failed or cheated while it was timed.
Profile invalid_profile(Profile profile, std::vector<Reason> reasons, CandidateProcess& process) {
  profile.verdict = Verdict::invalid;
  profile.reasons = std::move(reasons);
  profile.fault = process.fault();
  profile.engine = "none";
  profile.cache = "as_is";
  return profile;
}

}  // namespace

Result<std::vector<Trial>> Laboratory::timing_trials(Judge& judge, const Contract& contract,
                                                     const Dims& dims, const Candidate& candidate,
                                                     std::string_view run_secret,
                                                     std::size_t contestants,
                                                     const CallContext& call) {
  auto layout = layout_of(contract, dims);
  if (!layout) return layout.error();
  const auto room = static_cast<std::size_t>(
      kTrialMemory / (layout->bytes * static_cast<std::int64_t>(contestants + 2)));
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < std::clamp<std::size_t>(room, 1, kMostTrials); ++i) {
    const auto seed = trial_seed(run_secret, candidate.build.binary_digest,
                                 fmt::format("time {} {}", encode(dims).dump(), i));
    // One answer tells what the reference writes; timed answers are judged on changed inputs.
    auto trial = i == 0 ? judge.make_trial(dims, "normal", seed, call)
                        : judge.make_inputs(dims, "normal", seed, call);
    if (!trial) return trial.error();
    trial->writes_all = trials.empty() ? trial->writes_all : trials.front().writes_all;
    trials.push_back(*std::move(trial));
  }
  return trials;
}

Result<std::vector<CandidateProcess>> Laboratory::start_all(const Contract& contract,
                                                            const Versions& versions,
                                                            std::size_t trials,
                                                            const CallContext& call) {
  // All are under way before one is waited for.
  std::vector<CandidateProcess> processes;
  std::vector<CandidateProcess::Code> codes;
  for (const auto& version : versions) {
    auto plan = start_plan(contract, *version.second, CandidateProcess::Use::time,
                           static_cast<int>(trials) + 1);
    if (!plan) return plan.error();
    auto process = CandidateProcess::launch(plan->spec, plan->deadline);
    if (!process) return process.error();
    processes.push_back(*std::move(process));
    codes.push_back(std::move(plan->code));
  }
  for (std::size_t i = 0; i < processes.size(); ++i)
    if (auto loaded = processes[i].load(codes[i], call); !loaded) return loaded.error();
  return processes;
}

Result<Profile> Laboratory::profile(const Contract& contract, const ProfileRequest& request,
                                    std::string_view run_secret, CallContext& call) {
  const auto begin = steady_clock::now();
  auto turn = queue_.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto judge = Judge::open(parts(contract), contract, call);
  if (!judge) return judge.error();
  Versions versions{{"candidate", request.candidate}};
  if (request.parent) versions.emplace_back("parent", request.parent);
  if (request.v0) versions.emplace_back("v0", request.v0);
  auto trials = timing_trials(**judge, contract, contract.cases.front().dims, *request.candidate,
                              run_secret, versions.size(), call);
  if (!trials) return trials.error();
  auto processes = start_all(contract, versions, trials->size(), call);
  if (!processes) return processes.error();
  SessionPlan plan;
  plan.time_limit = options_.timing_limit;
  plan.least_noise = std::max(kLeastNoise, contract.noise_threshold_pct / 100);
  auto session =
      TimingSession(**judge, *trials, plan).run(contestants_of(versions, *processes), call);
  if (!session) return session.error();

  Profile profile;
  profile.candidate_digest = request.candidate->build.binary_digest;
  profile.metric_set = name_of(request.metrics);
  if (const auto& reasons = session->contestants.front().reasons; !reasons.empty()) {
    profile = invalid_profile(std::move(profile), reasons, processes->front());
    profile.elapsed_ms = elapsed_ms(begin);
    return profile;
  }
  auto timing = timing_of(*session, 0, plan);
  if (!timing) return timing.error();
  profile.timing = *std::move(timing);
  take_comparisons(*session, profile);
  const DeviceInfo device = processes->front().device();
  processes->clear();  // counting never shares the machine with a timed process

  const Trial& trial = trials->front();
  if (auto done = count(contract, request, trial, profile, call); !done) return done.error();
  if (auto done = diagnose_profile(contract, request, device, trial, profile, call); !done)
    return done.error();
  profile.elapsed_ms = elapsed_ms(begin);
  return profile;
}

Status Laboratory::count(const Contract& contract, const ProfileRequest& request,
                         const Trial& trial, Profile& profile, const CallContext& call) {
  profile.engine = "none";
  profile.cache = "as_is";
  const auto degrade = [&](std::string why) {
    profile.degraded = true;
    profile.degraded_reason = std::move(why);
    return Status{};
  };
  call.progress(0, std::nullopt, "reading counters");
  auto process = start(contract, *request.candidate, CandidateProcess::Use::count, 2, call);
  if (!process) return process.error();
  const std::array arenas{&trial.sent};
  auto ready =
      process->prepare(trial.plan, {arenas, shift_of("count"), trial.writes_all, {}}, call);
  if (!ready) return ready;
  auto counted = process->count(
      {std::string(name_of(request.metrics)), metric_names(request.metrics, contract.device_kind)},
      call);
  if (!counted) return degrade(counted.error().message);
  if (const auto& fault = process->fault())
    return degrade("the kernel failed while it was counted: " + fault->message);
  profile.kernels = std::move(counted->kernels);
  profile.unknown_metrics = std::move(counted->unknown_metrics);
  profile.engine = counted->engine;
  profile.cache = counted->cache;
  profile.launches = static_cast<int>(counted->launches.size());
  if (auto reason = reason_of_spans(counted->calls, profile.timing.median.value)) {
    profile.verdict = Verdict::invalid;
    profile.reasons.push_back(*std::move(reason));
  }
  if (counted->unavailable) return degrade(*counted->unavailable);
  return {};
}

Status Laboratory::diagnose_profile(const Contract& contract, const ProfileRequest& request,
                                    const DeviceInfo& device, const Trial& trial, Profile& profile,
                                    const CallContext& call) {
  auto roofs = measured_ceilings(contract.device, contract.device_kind, false, call);
  if (!roofs) return roofs.error();
  auto work = work_of(contract, trial.dims);
  if (!work) return work.error();
  profile.roofline = place_under_roofs(*work, profile.timing.median, profile.kernels, *roofs);
  add_roofline_metrics(profile);

  DiagnosisInput input;
  input.kind = contract.device_kind;
  input.device = device;
  input.timing = profile.timing;
  input.roofline = profile.roofline;
  input.kernels = profile.kernels;
  input.build = request.candidate->build;
  for (const auto& tensor : contract.tensors) input.dtypes.push_back(tensor.dtype);
  input.launches = profile.launches;
  auto diagnosis = diagnose(input);
  profile.bound = diagnosis.bound;
  profile.bound_evidence = std::move(diagnosis.bound_evidence);
  profile.findings = std::move(diagnosis.findings);
  return judge_physics(contract, device, trial, profile, call);
}

Status Laboratory::judge_physics(const Contract& contract, const DeviceInfo& device,
                                 const Trial& trial, Profile& profile, const CallContext& call) {
  auto work = work_of(contract, trial.dims);
  if (!work) return work.error();
  if (!*work) return {};
  const auto verdict = [&](const std::vector<Ceiling>& roofs) {
    return faster_than_physics({**work, profile.timing.median, profile.timing.cache_mode,
                                output_bytes(trial.plan.layout), device.l2_bytes,
                                highest_bandwidth(roofs), cache_ceiling(roofs),
                                compute_ceiling(roofs, (*work)->type)});
  };
  auto roofs = measured_ceilings(contract.device, contract.device_kind, false, call);
  if (!roofs) return roofs.error();
  if (!verdict(*roofs)) return {};
  // The roof may have been measured beside a busy neighbour: it is measured again before a kernel
  // is called impossible, and the report says so.
  roofs = measured_ceilings(contract.device, contract.device_kind, true, call);
  if (!roofs) return roofs.error();
  profile.timing.flags.emplace_back("ceilings_measured_again");
  if (auto reason = verdict(*roofs)) {
    profile.verdict = Verdict::invalid;
    profile.reasons.push_back(*std::move(reason));
  }
  return {};
}

}  // namespace ratchet
