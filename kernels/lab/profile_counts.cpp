// Counters, samples and diagnosis of a version that was timed.

#include "kernels/lab/profile_counts.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/contract/layout.h"
#include "kernels/counters/hot_code.h"
#include "kernels/counters/hotspots.h"
#include "kernels/counters/metrics.h"
#include "kernels/diagnosis/roofline.h"
#include "kernels/diagnosis/roofline_report.h"
#include "kernels/disassembly/machine_code.h"
#include "kernels/lab/physics.h"

namespace ratchet {
namespace {

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

}  // namespace

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
  auto counted = process.count({.metrics = names, .sampling = sampling}, call);
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

Result<Diagnosis> diagnose_profile(LabParts& lab, const Contract& contract,
                                   const ProfileRequest& request, const DeviceInfo& device,
                                   std::span<const LaunchTime> launched, Profile& profile,
                                   const CallContext& call) {
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
  return diagnose(input);
}

}  // namespace ratchet
