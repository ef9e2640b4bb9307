// Calibrates the noise of comparing one kernel with itself on a device.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/lab/laboratory.h"

namespace ratchet {
namespace {

// 2 to 5 µs on an H200, a few ticks of its clock; and 60 µs.
constexpr std::int64_t kShortOnGpu = std::int64_t{1} << 20;
constexpr std::int64_t kLongOnGpu = std::int64_t{1} << 25;
constexpr std::int64_t kShortOnHost = 20'000;
constexpr std::int64_t kLongOnHost = 1'000'000;
// About as many as a session with a verdict takes.
constexpr int kSamplesOnGpu = 320;
// Of one session. More processes show more of the scatter; on the host each costs time.
constexpr std::size_t kProcessesOnGpu = 4;
constexpr std::size_t kProcessesOnHost = 2;
constexpr int kSamplesOnHost = 20;  // each with a flush of some 10 ms

Source calibration_source(DeviceKind kind, const char* entry) {
  if (kind == DeviceKind::host)
    return {"noise.cpp",
            fmt::format("extern \"C\" void {}(const float* x, float* y, int n) {{\n"
                        "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}}\n",
                        entry),
            ""};
  return {"noise.cu",
          fmt::format("__global__ void twice(const float* x, float* y, int n) {{\n"
                      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "  if (i < n) y[i] = 2 * x[i];\n}}\n"
                      "extern \"C\" void {}(const float* x, float* y, int n) {{\n"
                      "  twice<<<(n + 255) / 256, 256>>>(x, y, n);\n}}\n",
                      entry),
          ""};
}

Contract calibration_contract(const DeviceInfo& device) {
  const bool host = device.kind == DeviceKind::host;
  Contract contract;
  contract.kernel_name = "noise";
  contract.device_kind = device.kind;
  contract.device = device.index;
  contract.implementation = host ? Implementation::host_cpp : Implementation::cuda_cpp;
  contract.arch = host ? "native" : device.arch;
  contract.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                         {"y", ParameterKind::tensor, DType::f32, false, {}},
                         {"n", ParameterKind::dim, DType::i32, false, {}}};
  contract.tensors = {{"x", DType::f32, {"n"}, Role::in, "normal"},
                      {"y", DType::f32, {"n"}, Role::out, "normal"}};
  contract.cases = {{{{"n", host ? kShortOnHost : kShortOnGpu}}, 1, false},
                    {{{"n", host ? kLongOnHost : kLongOnGpu}}, 1, false}};
  contract.kernel = calibration_source(device.kind, "solve");
  contract.reference = calibration_source(device.kind, "reference");
  contract.reference_kind = host ? ReferenceKind::cpp : ReferenceKind::cuda;
  return contract;
}

std::size_t processes_of(DeviceKind kind) {
  return kind == DeviceKind::cuda ? kProcessesOnGpu : kProcessesOnHost;
}

/// A session with new processes and memory, whose placement is part of the noise.
Status add_session(LabParts& lab, const Contract& contract, const Candidate& candidate,
                   Calibration& calibration, const CallContext& call) {
  const Versions versions(processes_of(contract.device_kind), {"the same", &candidate});
  auto source = ArenaSource::open(lab.reference_parts(contract), contract, versions.size(), call);
  if (!source) return source.error();
  auto processes = lab.start_all(contract, versions, call);
  if (!processes) return processes.error();
  Calibration more = calibration;  // all of a session counts, or nothing
  for (auto* const points : {&more.of_short, &more.of_long}) {
    const auto& dims = contract.cases[points == &more.of_short ? 0 : 1].dims;
    auto arenas = source->arenas({.dims = dims}, fresh_seed(), call);
    if (!arenas) return arenas.error();
    SessionPlan plan;
    plan.samples = contract.device_kind == DeviceKind::host ? kSamplesOnHost : kSamplesOnGpu;
    auto session = TimingSession(**arenas, plan).run(contestants_of(versions, *processes), call);
    if (!session) return session.error();
    const auto timing = timing_of(*session, 0, plan);
    if (!timing) return unavailable("the calibration's kernel could not be timed");
    std::vector<double> ratios;
    for (std::size_t other = 1; other < versions.size(); ++other) {
      const auto compared = comparison_of(*session, other);
      if (!compared) return unavailable("the calibration's kernel could not be compared");
      ratios.push_back(compared->speedup);
    }
    const auto found = independent_points(timing->median.value, ratios);
    points->insert(points->end(), found.begin(), found.end());
    if (timing->clock) more.clock_mhz = std::max(more.clock_mhz.value_or(0), timing->clock->value);
  }
  calibration = std::move(more);
  return {};
}

/// How many a complete calibration has of each kernel.
std::size_t points_of(const LabOptions& options, DeviceKind kind) {
  return static_cast<std::size_t>(options.noise_sessions) * (processes_of(kind) - 1);
}

}  // namespace

Result<std::optional<NoiseProfile>> LabParts::calibrate_further(const DeviceInfo& device,
                                                                const CallContext& call) {
  const Contract contract = calibration_contract(device);
  CallContext quiet({}, call.stop());
  auto candidate = build(contract, contract.kernel, quiet);
  if (!candidate) return candidate.error();
  if (!candidate->build.ok) return unavailable("the calibration's kernel does not build");
  const std::pair key{device.kind, device.index};
  Calibration* calibration = nullptr;
  {
    const std::lock_guard lock(guard);
    calibration = &calibrations[key];  // changed by who holds the device
  }
  const auto points = points_of(options, device.kind);
  call.progress(static_cast<double>(calibration->of_long.size()), static_cast<double>(points),
                "calibrating the noise of comparisons");
  if (auto added = add_session(*this, contract, *candidate, *calibration, quiet); !added)
    return added.error();
  if (calibration->of_long.size() < points) return std::optional<NoiseProfile>();
  auto profile = fit_noise(calibration->of_short, calibration->of_long);
  profile.clock_mhz = calibration->clock_mhz;
  (void)store_noise(options.state_dir, device, profile);
  const std::lock_guard lock(guard);
  calibrations.erase(key);
  return std::optional(std::move(profile));
}

bool LabParts::noise_is_known(const DeviceInfo& device) const {
  return options.noise_sessions <= 0 || stored_noise(options.state_dir, device);
}

std::optional<NoiseProfile> LabParts::noise_of(const DeviceInfo& device, bool refresh,
                                               const CallContext& call) {
  if (options.noise_sessions <= 0) return std::nullopt;
  if (refresh) {
    const std::lock_guard lock(guard);
    calibrations.erase({device.kind, device.index});
  } else if (auto known = stored_noise(options.state_dir, device)) {
    return known;
  }
  while (true) {
    auto profile = calibrate_further(device, call);
    // Without a calibration (no compiler, for instance), each session uses its own scatter.
    if (!profile) return std::nullopt;
    if (*profile) return *std::move(profile);
  }
}

Result<std::optional<double>> Laboratory::noise(DeviceKind kind, int device, double time_ns,
                                                CallContext& call) {
  auto turn = queue.wait(kind, device, call);
  if (!turn) return turn.error();
  const auto info = greeting(kind, device, call);
  if (!info) return info.error();
  const auto profile = noise_of(info->device, false, call);
  return profile ? std::optional(noise_floor_at(*profile, time_ns)) : std::nullopt;
}

void LabParts::calibrate_when_idle(const DeviceInfo& device) {
  if (device.kind == DeviceKind::host || noise_is_known(device)) return;
  const std::lock_guard lock(guard);
  if (std::exchange(calibrating, true)) return;
  calibrator = std::jthread([this, device](const std::stop_token& stop) {
    while (!stop.stop_requested() && !stored_noise(options.state_dir, device)) {
      // A call that wants the device does not wait for the rest of a session.
      std::stop_source wanted;
      const std::stop_callback ended(stop, [&wanted] { wanted.request_stop(); });
      const auto turn = queue.wait_for_spare_time(device.kind, device.index, wanted);
      const bool went_on = turn && calibrate_further(device, CallContext({}, wanted.get_token()));
      if (!went_on && !wanted.stop_requested()) break;
    }
    const std::lock_guard ended(guard);
    calibrating = false;
  });
}

SessionPlan LabParts::session_plan(const Contract& contract, const DeviceInfo& device,
                                   bool compares, const CallContext& call) {
  SessionPlan plan;
  plan.time_limit = options.timing_limit;
  plan.least_noise = std::max(kLeastNoise, contract.noise_threshold_pct / 100);
  plan.max_clock_mhz = device.max_clock_mhz;
  if (compares) plan.noise = noise_of(device, false, call);
  return plan;
}

}  // namespace ratchet
