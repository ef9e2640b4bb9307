// Time, counters and diagnosis of one version.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/contract/layout.h"
#include "kernels/counters/hot_code.h"
#include "kernels/counters/hotspots.h"
#include "kernels/counters/metrics.h"
#include "kernels/diagnosis/diagnosis.h"
#include "kernels/diagnosis/roofline.h"
#include "kernels/diagnosis/roofline_report.h"
#include "kernels/disassembly/machine_code.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/judge/verdicts.h"
#include "kernels/lab/laboratory.h"
#include "kernels/process/device_contention.h"
#include "server/core/clock.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

void take_comparisons(const SessionRecord& session, Profile& profile) {
  for (std::size_t i = 1; i < session.contestants.size(); ++i) {
    const auto& other = session.contestants[i];
    auto compared =
        other.reasons.empty() ? comparison_of(session, i) : Result<Comparison>(unavailable(""));
    if (compared) {
      profile.comparisons.push_back(*std::move(compared));
      continue;
    }
    // Without a pair there is no verdict: the other version passed before but failed now.
    Comparison none;
    none.against = other.name;
    none.noise_floor = session.noise_floor;
    profile.comparisons.push_back(std::move(none));
    if (!other.reasons.empty())
      profile.timing.flags.push_back(other.name + "_failed: " + other.reasons.front().text());
  }
}

// Times of one kernel on two inputs differ by less, unless the amount of work depends on the
// inputs.
constexpr double kMostDrift = 1.25;

/// Whether the clock was set differently since the roofs were measured.
bool clock_moved(const std::vector<Ceiling>& roofs, const std::optional<Megahertz>& seen) {
  constexpr double kSame = 0.1;  // the variation caused by power and temperature
  const auto then = std::ranges::find(roofs, "sm_clock", &Ceiling::what);
  return seen && then != roofs.end() && std::abs(seen->value / then->value - 1) > kSame;
}

/// All bytes a kernel reads and writes at least.
double tensor_bytes(const wire::ArenaLayout& layout) {
  double bytes = 0;
  for (const auto& buffer : layout.buffers)
    bytes += static_cast<double>(buffer.bytes()) * (buffer.role == Role::inout ? 2 : 1);
  return bytes;
}

void note_contention(const DeviceContention& contention, Timing& timing) {
  if (!contention.processes.empty()) timing.flags.emplace_back("device_shared");
  timing.conditions += (timing.conditions.empty() ? "" : "; ") + described(contention);
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

/// A profile of a kernel that failed or cheated while it was timed.
Profile invalid_profile(Profile profile, std::vector<Reason> reasons, CandidateProcess& process) {
  profile.verdict = Verdict::invalid;
  profile.reasons = std::move(reasons);
  profile.fault = process.fault();
  profile.engine = "none";
  profile.cache = "as_is";
  return profile;
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

/// How a kernel's time depends on the values of its inputs. Kernels are timed on normal values, and
/// one that recognizes them may compute less on those than on others that the check also draws.
class OverValues {
 public:
  OverValues(LabParts& lab, const Contract& contract, ArenaSource& source, std::string secret,
             const CallContext& call)
      : lab_(lab), contract_(contract), source_(source), secret_(std::move(secret)), call_(call) {}

  /// `processes`: those of `versions`, the candidate's first. Adds what it finds to the profile,
  /// whose comparisons are those on normal values.
  Status measure(const Versions& versions, std::vector<CandidateProcess>& processes,
                 const SessionPlan& plan, Profile& profile);

 private:
  Result<ValueTime> on(const std::string& values, CandidateProcess& normal,
                       const std::vector<Contestant>& pair, const SessionPlan& plan);
  Status judge_on(const std::string& values, const std::vector<Contestant>& contestants,
                  const SessionPlan& plan, Profile& profile);
  Result<std::unique_ptr<TimedArenas>> arenas(const std::string& values) {
    // Contents that no session has had before.
    return source_.arenas(contract_.cases.front().dims, fmt::format("{} {}", secret_, ++made_),
                          call_, values);
  }

  LabParts& lab_;
  const Contract& contract_;
  ArenaSource& source_;
  std::string secret_;
  const CallContext& call_;
  int made_ = 0;
};

constexpr int kValueSamples = 20;  // ten rounds: enough for a verdict of each of six distributions

/// The candidate on these values against itself on normal ones, and against its parent on these.
Result<ValueTime> OverValues::on(const std::string& values, CandidateProcess& normal,
                                 const std::vector<Contestant>& pair, const SessionPlan& plan) {
  auto its = arenas(kNormalValues);
  if (!its) return its.error();
  auto theirs = arenas(values);
  if (!theirs) return theirs.error();
  auto both = split_arenas(normal, **its, **theirs);
  std::vector<Contestant> contestants{pair.front(), {kNormalValues, &normal}};
  contestants.insert(contestants.end(), pair.begin() + 1, pair.end());
  auto session = TimingSession(*both, plan).run(contestants, call_);
  if (!session) return session.error();
  for (const auto& one : session->contestants)
    if (!one.reasons.empty()) return unavailable(one.name + ": " + one.reasons.front().text());
  ValueTime found;
  found.values = values;
  auto timing = timing_of(*session, 0, plan);
  if (!timing) return timing.error();
  auto compared = comparison_of(*session, 1);
  if (!compared) return compared.error();
  found.median = timing->median;
  found.against_normal = *std::move(compared);
  if (contestants.size() > 2)
    if (auto parent = comparison_of(*session, 2)) found.against_parent = *std::move(parent);
  return found;
}

/// Whether two intervals of a speed-up differ by more than the noise.
bool differ(const Comparison& a, const Comparison& b) {
  const double noise = 1 + std::max(a.noise_floor, b.noise_floor);
  return a.ci_high * noise < b.ci_low || b.ci_high * noise < a.ci_low;
}

/// The distribution on which the candidate does worst against its parent; without one, the slowest.
const ValueTime& worst_of(const std::vector<ValueTime>& all) {
  const auto figure = [](const ValueTime& one) {
    return one.against_parent ? one.against_parent->speedup : one.against_normal.speedup;
  };
  return *std::ranges::min_element(all, {}, figure);
}

Status OverValues::judge_on(const std::string& values, const std::vector<Contestant>& contestants,
                            const SessionPlan& plan, Profile& profile) {
  auto filled = arenas(values);
  if (!filled) return filled.error();
  auto session = TimingSession(**filled, plan).run(contestants, call_);
  if (!session) return session.error();
  if (const auto& reasons = session->contestants.front().reasons; !reasons.empty()) {
    profile.verdict = Verdict::invalid;
    profile.reasons = reasons;
    return {};
  }
  profile.comparisons.clear();
  take_comparisons(*session, profile);
  return {};
}

Status OverValues::measure(const Versions& versions, std::vector<CandidateProcess>& processes,
                           const SessionPlan& plan, Profile& profile) {
  auto distributions = distributions_of(contract_);
  std::erase(distributions, kNormalValues);
  if (distributions.empty()) return {};
  auto copy = lab_.start(contract_, *versions.front().second, CandidateProcess::Use::time,
                         TimedArenas::kMost + 1, call_);
  if (!copy) return copy.error();
  const auto contestants = contestants_of(versions, processes);
  const std::vector<Contestant> pair(contestants.begin(),
                                     contestants.begin() + (contestants.size() > 1 ? 2 : 1));
  SessionPlan brief = plan;
  brief.samples = kValueSamples;
  brief.error_rate = kErrorRate / static_cast<double>(distributions.size());
  std::vector<ValueTime> all;
  for (const auto& values : distributions) {
    call_.progress(0, std::nullopt, fmt::format("timing on {} values", values));
    auto found = on(values, *copy, pair, brief);
    if (call_.canceled()) return found ? Status{} : found.error();
    // What fails on other values fails the check, not the timing.
    if (found) all.push_back(*std::move(found));
  }
  if (all.empty()) return {};
  const Comparison* const normal = profile.comparisons.empty() ? nullptr : &profile.comparisons[0];
  const bool depends = std::ranges::any_of(all, [&](const ValueTime& one) {
    const auto verdict = one.against_normal.verdict;
    return verdict == Verdict::faster || verdict == Verdict::slower ||
           (normal != nullptr && one.against_parent && differ(*normal, *one.against_parent));
  });
  if (depends) {
    const auto [slowest, fastest] = std::ranges::minmax(
        all, {}, [](const ValueTime& one) { return one.against_normal.speedup; });
    const double median = profile.timing.median.value;
    const auto on_values = [&](const ValueTime& one) {
      return median / one.against_normal.speedup;
    };
    ValueRange range{kNormalValues, kNormalValues, {median}, {median}, kNormalValues};
    if (fastest.against_normal.speedup > 1)
      range.fastest = fastest.values, range.low = {on_values(fastest)};
    if (slowest.against_normal.speedup < 1)
      range.slowest = slowest.values, range.high = {on_values(slowest)};
    const auto& worst = worst_of(all);
    const double on_normal = normal != nullptr ? normal->speedup : 1;
    const double there =
        worst.against_parent ? worst.against_parent->speedup : worst.against_normal.speedup;
    if (there < on_normal) range.judged_on = worst.values;
    if (range.judged_on != kNormalValues && normal != nullptr)
      if (auto done = judge_on(range.judged_on, contestants, plan, profile); !done) return done;
    profile.time_depends_on_values = std::move(range);
    profile.timing.flags.emplace_back("time_depends_on_values");
  }
  profile.over_values = std::move(all);
  return {};
}

/// An idle process for counters, the code to load into it and the arenas to call it on.
struct Counting {
  CandidateProcess& process;
  const CandidateProcess::Code& code;
  TimedArenas& arenas;
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
  if (auto reason = reason_of_spans(counted->calls, profile.timing.median.value)) {
    profile.verdict = Verdict::invalid;
    profile.reasons.push_back(*std::move(reason));
  }
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

Status diagnose_profile(LabParts& lab, const Contract& contract, const ProfileRequest& request,
                        const DeviceInfo& device, Profile& profile, const CallContext& call) {
  auto roofs = lab.measured_ceilings(contract.device, contract.device_kind, false, call);
  if (roofs && clock_moved(*roofs, profile.timing.clock))
    roofs = lab.measured_ceilings(contract.device, contract.device_kind, true, call);
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
  auto diagnosis = diagnose(input);
  profile.bound = diagnosis.bound;
  profile.bound_evidence = std::move(diagnosis.bound_evidence);
  profile.findings = std::move(diagnosis.findings);
  return {};
}

/// A kernel that does not need all of its data may be this fast. On new inputs it must be right and
/// as fast again.
Status measure_again(LabParts& lab, const Contract& contract, const ProfileRequest& request,
                     std::string_view run_secret, Profile& profile, const CallContext& call) {
  profile.timing.flags.emplace_back("implausibly_fast");
  const Versions alone{{"candidate", request.candidate}};
  SessionPlan plan;
  plan.time_limit = lab.options.timing_limit;
  auto session =
      lab.session_of(contract, contract.cases.front().dims, alone, plan, run_secret, call);
  if (!session) return session.error();
  const auto& record = session->contestants.front();
  const auto again = timing_of(*session, 0, plan);
  if (record.reasons.empty() && again &&
      again->median.value <= kMostDrift * profile.timing.median.value)
    return {};
  profile.verdict = Verdict::invalid;
  profile.reasons.push_back(
      record.reasons.empty()
          ? Reason{"implausibly_fast",
                   "it is faster than its data can be moved, but was not so on other inputs",
                   {}}
          : record.reasons.front());
  return {};
}

Status judge_physics(LabParts& lab, const Contract& contract, const DeviceInfo& device,
                     const ProfileRequest& request, std::string_view run_secret, Profile& profile,
                     const CallContext& call) {
  const auto& dims = contract.cases.front().dims;
  auto work = work_of(contract, dims);
  if (!work) return work.error();
  const auto layout = layout_of(contract, dims);
  if (!layout) return layout.error();
  const bool declared = work->has_value();
  // Undeclared work is at least reading every input and writing every output, as far as known.
  if (!declared) *work = WorkDone{tensor_bytes(*layout), 0, DType::f32};
  const auto verdict = [&](const std::vector<Ceiling>& roofs) {
    return faster_than_physics({**work, profile.timing.median, profile.timing.cache_mode,
                                output_bytes(*layout), device.l2_bytes, highest_bandwidth(roofs),
                                cache_ceiling(roofs),
                                physical_compute_ceiling(roofs, (*work)->type)});
  };
  auto roofs = lab.measured_ceilings(contract.device, contract.device_kind, false, call);
  if (!roofs) return roofs.error();
  if (!verdict(*roofs)) return {};
  // The roof may have been measured under contention: it is measured again before a kernel is
  // called impossible, and the report says so.
  roofs = lab.measured_ceilings(contract.device, contract.device_kind, true, call);
  if (!roofs) return roofs.error();
  profile.timing.flags.emplace_back("ceilings_measured_again");
  auto reason = verdict(*roofs);
  if (!reason) return {};
  if (!declared) return measure_again(lab, contract, request, run_secret, profile, call);
  profile.verdict = Verdict::invalid;
  profile.reasons.push_back(*std::move(reason));
  return {};
}

}  // namespace

Result<Profile> Laboratory::profile(const Contract& contract, const ProfileRequest& request,
                                    std::string_view run_secret, CallContext& call) {
  const auto begin = steady_clock::now();
  if (auto possible = check_engine(contract, request.engine); !possible) return possible.error();
  auto turn = queue.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto greeted = greeting(contract.device_kind, contract.device, call);
  if (!greeted) return greeted.error();
  const DeviceInfo device = greeted->device;
  const auto contention = device_contention(device, call);
  SessionPlan plan = session_plan(contract, device, call);
  if (request.seconds) {
    plan.patient = true;
    plan.time_limit = std::chrono::milliseconds(std::llround(1000 * *request.seconds));
  }
  const auto timing_begin = steady_clock::now();
  Versions versions{{"candidate", request.candidate}};
  if (request.parent) versions.emplace_back("parent", request.parent);
  if (request.v0) versions.emplace_back("v0", request.v0);
  if (request.best) versions.emplace_back("best", request.best);
  // One more: the candidate on normal values beside itself on others.
  const bool on_host = contract.device_kind == DeviceKind::host;
  auto source = ArenaSource::open(reference_parts(contract), contract,
                                  versions.size() + (on_host ? 1 : 0), call);
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
  const auto secret = fmt::format("{} {}", run_secret, hex(sha256(random_bytes(16))));
  auto arenas = source->arenas(contract.cases.front().dims, secret, call);
  if (!arenas) return arenas.error();
  auto session = TimingSession(**arenas, plan).run(contestants_of(versions, *processes), call);
  if (!session) return session.error();

  Profile profile;
  profile.candidate_digest = request.candidate->build.binary_digest;
  profile.metric_set = request.names.empty() ? name_of(request.metrics) : "given";
  profile.timing_ms = milliseconds_since(timing_begin);
  if (const auto& reasons = session->contestants.front().reasons; !reasons.empty()) {
    profile = invalid_profile(std::move(profile), reasons, processes->front());
    profile.elapsed_ms = milliseconds_since(begin);
    return profile;
  }
  auto timing = timing_of(*session, 0, plan);
  if (!timing) return timing.error();
  profile.timing = *std::move(timing);
  note_contention(contention, profile.timing);
  take_comparisons(*session, profile);
  if (on_host)
    if (auto done = OverValues(*this, contract, *source, secret, call)
                        .measure(versions, *processes, plan, profile);
        !done)
      return done.error();
  if (flag_resolution(contract.device_kind, profile.timing))
    for (auto& comparison : profile.comparisons) judge_resolution(profile.timing, comparison);
  if (!profile.comparisons.empty() && profile.verdict != Verdict::invalid)
    profile.verdict = profile.comparisons.front().verdict;
  processes->clear();  // counting never shares the machine with a timed process

  const Counting counts{*counter, counting->code, **arenas};
  if (auto done = count(*this, contract, request, counts, profile, call); !done)
    return done.error();
  if (auto done = diagnose_profile(*this, contract, request, device, profile, call); !done)
    return done.error();
  if (auto done = judge_physics(*this, contract, device, request, run_secret, profile, call); !done)
    return done.error();
  profile.elapsed_ms = milliseconds_since(begin);
  return profile;
}

}  // namespace ratchet
