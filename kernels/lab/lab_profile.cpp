// Time of one version, beside others; its counters and diagnosis follow.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/contract/layout.h"
#include "kernels/counters/metrics.h"
#include "kernels/diagnosis/verification.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/judge/verdicts.h"
#include "kernels/lab/interventions.h"
#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"
#include "kernels/lab/neighbors.h"
#include "kernels/lab/over_values.h"
#include "kernels/lab/physics.h"
#include "kernels/lab/profile_counts.h"
#include "server/core/clock.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

// Times of one kernel on two inputs differ by less, unless the amount of work depends on the
// inputs.
constexpr double kMostDrift = 1.25;

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

/// The profile of a kernel that failed or cheated while it was timed.
void make_invalid(Profile& profile, std::vector<Reason> reasons, CandidateProcess& process) {
  profile.verdict = Verdict::invalid;
  profile.reasons = std::move(reasons);
  profile.fault = process.fault();
  profile.engine = "none";
  profile.cache = "as_is";
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

/// One profile: its processes, and what they were found to do.
class Profiling {
 public:
  Profiling(LabParts& lab, const Contract& contract, const ProfileRequest& request,
            std::string_view run_secret, CallContext& call)
      : lab_(lab),
        contract_(contract),
        request_(request),
        run_secret_(run_secret),
        secret_(fmt::format("{} {}", run_secret, hex(sha256(random_bytes(16))))),
        call_(call) {}

  /// With a turn on the device.
  Result<TimedProfile> run(IdleJudge judge, Stopwatch& watch) {
    watch.begin("planning");
    auto greeted = lab_.greeting(contract_.device_kind, contract_.device, call_);
    if (!greeted) return greeted.error();
    device_ = greeted->device;
    Neighbors neighbors(device_, call_);
    plan();
    const auto begin = steady_clock::now();
    watch.begin("starting");
    if (auto done = start(std::move(judge)); !done) return done.error();
    const auto timed = time(watch);
    if (!timed) return timed.error();
    profile_.timing_ms = milliseconds_since(begin);
    if (!*timed) return std::move(profile_);
    if (compares()) {
      watch.begin("timing over values");
      if (auto done = OverValues(lab_, contract_, *source_, secret_, call_)
                          .measure(versions_, processes_, plan_, request_.search, profile_);
          !done)
        return done.error();
    }
    neighbors.look_again();
    settle(neighbors);
    processes_.clear();  // counting never shares the machine with a timed process
    if (auto done = explain(watch); !done) return done.error();
    watch.begin("judging");
    if (auto done = judge_physics(lab_, contract_, device_, request_, run_secret_, profile_, call_);
        !done)
      return done.error();
    if (!compares()) lab_.calibrate_when_idle(device_);
    return std::move(profile_);
  }

 private:
  [[nodiscard]] bool compares() const {
    return request_.parent != nullptr || request_.v0 != nullptr || request_.best != nullptr;
  }

  void plan() {
    // Calibrating the noise, and timing on other values, take longer than all else: v0 goes
    // without.
    plan_ = lab_.session_plan(contract_, device_, compares(), call_);
    if (request_.seconds) {
      plan_.patient = true;
      plan_.time_limit = std::chrono::milliseconds(std::llround(1000 * *request_.seconds));
    }
    versions_ = {{"candidate", request_.candidate}};
    if (request_.parent) versions_.emplace_back("parent", request_.parent);
    if (request_.v0) versions_.emplace_back("v0", request_.v0);
    if (request_.best) versions_.emplace_back("best", request_.best);
  }

  Status start(IdleJudge judge) {
    // One more, for the candidate beside itself on other values or under other conditions.
    const auto most = versions_.size() + (compares() || request_.verify ? 1 : 0);
    auto source = ArenaSource::open(lab_.reference_parts(contract_), contract_, most, call_,
                                    std::move(judge));
    if (!source) return source.error();
    source_.emplace(*std::move(source));
    // Starts in parallel with the others. The kernel is loaded into it only after they have ended.
    auto counting = lab_.start_plan(contract_, *request_.candidate, CandidateProcess::Use::count,
                                    kMostArenas, call_);
    if (!counting) return counting.error();
    auto counter = CandidateProcess::launch(counting->spec, counting->deadline);
    if (!counter) return counter.error();
    counter_ = *std::move(counter);
    code_ = std::move(counting->code);
    auto processes = lab_.start_all(contract_, versions_, call_);
    if (!processes) return processes.error();
    processes_ = *std::move(processes);
    return counter_->greet(call_);
  }

  /// False: the kernel failed or cheated.
  Result<bool> time(Stopwatch& watch) {
    watch.begin("making inputs");
    auto arenas = source_->arenas({.dims = contract_.cases.front().dims}, secret_, call_);
    if (!arenas) return arenas.error();
    arenas_ = *std::move(arenas);
    watch.begin("timing");
    auto session = TimingSession(*arenas_, plan_).run(contestants_of(versions_, processes_), call_);
    if (!session) return session.error();
    profile_.candidate_digest = request_.candidate->build.binary_digest;
    profile_.metric_set = request_.names.empty() ? name_of(request_.metrics) : "given";
    if (const auto& reasons = session->contestants.front().reasons; !reasons.empty()) {
      make_invalid(profile_, reasons, processes_.front());
      return false;
    }
    auto timing = timing_of(*session, 0, plan_);
    if (!timing) return timing.error();
    profile_.timing = *std::move(timing);
    take_comparisons(*session, profile_);
    note_resolution(contract_, profile_);
    return true;
  }

  /// What is known besides the times themselves is held against them.
  void settle(const Neighbors& neighbors) {
    auto& comparisons = profile_.comparisons;
    neighbors.note(profile_.timing);
    for (auto& comparison : comparisons) neighbors.note(comparison);
    if (profile_.own_noise) {
      profile_.timing.flags.emplace_back(kOwnNoise);
      for (auto& comparison : comparisons) hold_against_own(*profile_.own_noise, comparison);
    }
    if (flag_resolution(contract_.device_kind, profile_.timing))
      for (auto& comparison : comparisons) judge_resolution(profile_.timing, comparison);
    if (!comparisons.empty() && profile_.verdict != Verdict::invalid)
      profile_.verdict = comparisons.front().verdict;
  }

  /// Counters and what they say, verified where that is asked for.
  Status explain(Stopwatch& watch) {
    watch.begin("counting");
    std::vector<LaunchTime> launched;
    if (auto done = count(lab_, contract_, request_, {*counter_, code_, *arenas_, watch, launched},
                          profile_, call_);
        !done)
      return done;
    watch.begin("diagnosing");
    note_warmth(contract_, profile_);
    auto diagnosis =
        diagnose_profile(lab_, contract_, request_, device_, launched, profile_, call_);
    if (!diagnosis) return diagnosis.error();
    if (request_.verify) {
      watch.begin("verifying");
      (void)counter_->left_behind();  // ends it: a timed process shares the machine with none
      auto found =
          Interventions(lab_, contract_, *source_, secret_, call_)
              .measure({*request_.candidate, profile_, diagnosis->findings, device_}, plan_);
      if (!found) return found.error();
      verify(*found, *diagnosis);
    }
    take_diagnosis(*std::move(diagnosis), profile_);
    return {};
  }

  LabParts& lab_;
  const Contract& contract_;
  const ProfileRequest& request_;
  const std::string_view run_secret_;
  const std::string secret_;  // of this profile
  CallContext& call_;
  DeviceInfo device_;
  SessionPlan plan_;
  Versions versions_;
  std::optional<ArenaSource> source_;
  std::optional<CandidateProcess> counter_;
  CandidateProcess::Code code_;  // for the counter
  std::vector<CandidateProcess> processes_;
  std::unique_ptr<TimedArenas> arenas_;
  TimedProfile profile_;
};

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
  auto profile = Profiling(*this, contract, request, run_secret, call).run(std::move(judge), watch);
  if (!profile) return profile;
  profile->elapsed_ms = milliseconds_since(begin);
  profile->spent = watch.stop();
  return profile;
}

}  // namespace ratchet
