// Devices, their counters and their ceilings.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "kernels/build/toolchain.h"
#include "kernels/counters/metrics.h"
#include "kernels/lab/laboratory.h"
#include "kernels/process/gpu_node.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCeilingDeadline(120'000);
constexpr std::int64_t kProbeElements = 1 << 16;

/// A small kernel to test whether counters can be read.
Source probe_source(DeviceKind kind) {
  if (kind == DeviceKind::host)
    return {"probe.cpp",
            "extern \"C\" void solve(float* x, int n) {\n"
            "  for (int i = 0; i < n; ++i) x[i] = 2.0f * i;\n"
            "}\n",
            ""};
  return {"probe.cu",
          "__global__ void fill(float* x, int n) {\n"
          "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < n) x[i] = 2.0f * i;\n"
          "}\n"
          "extern \"C\" void solve(float* x, int n) { fill<<<(n + 255) / 256, 256>>>(x, n); }\n",
          ""};
}

Contract probe_contract(const DeviceInfo& device) {
  Contract contract;
  contract.device_kind = device.kind;
  contract.device = device.index;
  contract.implementation =
      device.kind == DeviceKind::host ? Implementation::host_cpp : Implementation::cuda_cpp;
  contract.arch = device.kind == DeviceKind::host ? "native" : device.arch;
  contract.parameters = {{"x", ParameterKind::tensor, DType::f32, false, {}},
                         {"n", ParameterKind::dim, DType::i32, false, {}}};
  contract.tensors = {{"x", DType::f32, {"n"}, Role::out, "normal"}};
  contract.cases = {{{{"n", kProbeElements}}, 1, false}};
  return contract;
}

/// The key of the ceiling cache: ceilings are valid for a device, its driver and its cores.
std::string ceiling_key(const DeviceInfo& device) {
  auto text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", name_of(device.kind), device.name, device.uuid,
                          device.driver, device.multiprocessors, device.l2_bytes);
  // Since then, the host's roofs are of all levels and checked for plausibility.
  if (device.kind == DeviceKind::host) text += "\nlevels";
  return sha256_hex(text).substr(0, 16);
}

struct StoredCeilings {
  DeviceInfo device;
  std::vector<Ceiling> ceilings;

  static constexpr void fields(auto&& visit) {
    visit(required<&StoredCeilings::device>(), required<&StoredCeilings::ceilings>());
  }
};

std::optional<std::vector<Ceiling>> stored_ceilings(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  auto stored = decode_stored<StoredCeilings>(Json::parse(*text, nullptr, false));
  if (!stored || stored->ceilings.empty()) return std::nullopt;  // damaged: measured again
  return std::move(stored->ceilings);
}

CounterState probe_counters(LabParts& lab, const DeviceInfo& device, CallContext& call) {
  {
    const std::lock_guard lock(lab.guard);
    if (lab.counters) return *lab.counters;
  }
  const auto unknown = [](const Error& error) {
    return CounterState{false, "none", "The probe could not run: " + error.message};
  };
  const Contract contract = probe_contract(device);
  auto candidate = lab.build(contract, probe_source(device.kind), call);
  if (!candidate) return unknown(candidate.error());
  std::unique_ptr<DeviceQueue::Left> left;
  auto turn = lab.queue.wait(device.kind, device.index, call, &left);
  if (!turn) return unknown(turn.error());
  auto process = lab.start(contract, *candidate, CandidateProcess::Use::count, 1, call);
  if (!process) return unknown(process.error());
  const auto& dims = contract.cases.front().dims;
  const auto plan = call_plan_of(contract, dims);
  if (!plan) return unknown(plan.error());
  auto arena = MemoryFile::create("probe", plan->layout.bytes);
  if (!arena) return unknown(arena.error());
  CandidateProcess::Rotation rotation;
  rotation.arenas = {&*arena};
  rotation.writes_all = false;
  if (auto ready = process->prepare(*plan, rotation, call); !ready) return unknown(ready.error());
  auto counted = process->count(
      {.metrics = metric_names(MetricSet::lean, device.kind), .sampling = {}, .watches = false},
      call);
  if (!counted) return unknown(counted.error());
  if (process->fault())
    return CounterState{false, "none", "The probe kernel failed: " + process->fault()->message};
  CounterState state{!counted->unavailable && !counted->kernels.empty(), counted->engine,
                     counted->unavailable.value_or("")};
  lab.queue.give_back(*turn, std::move(left));
  const std::lock_guard lock(lab.guard);
  lab.counters = state;
  return state;
}

}  // namespace

Result<Greeting> LabParts::greeting(DeviceKind kind, int device, const CallContext& call) {
  if (kind == DeviceKind::host && device != 0)
    return invalid_argument(
        fmt::format("device: the processor is device 0, and the only one of its kind; got {}",
                    device),
        "Leave device out, or give 0; other numbers are those of GPUs, which check_env lists.");
  const std::pair key{kind, device};
  {
    const std::lock_guard lock(guard);
    if (const auto known = greetings.find(key); known != greetings.end()) return known->second;
  }
  auto worker = WorkerProcess::start(
      lookout_spec({options.worker_dir, kind, device, options.job_deadline}), call);
  if (!worker) return worker.error();
  const auto ready = decode_stored<wire::Reply>(worker->ready());
  if (!ready || ready->error || !ready->device)
    return unavailable(
        fmt::format("{} device {} cannot be used: {}", name_of(kind), device,
                    ready && ready->error ? *ready->error : "its worker did not answer"),
        "check_env lists the devices.");
  Greeting found{*ready->device, worker->walls(), ready->devices.value_or(1)};
  // While the worker lives: the driver does not know the UUID of a GPU that nobody has open.
  if (auto node = gpu_node(found.device.uuid))
    found.gpu = OneGpu{found.device.uuid, *std::move(node)};
  const std::lock_guard lock(guard);
  return greetings.emplace(key, std::move(found)).first->second;
}

Result<Environment> Laboratory::environment(std::optional<int> device, CallContext& call) {
  auto found = machine(device, call);
  if (!found) return found;
  const bool gpu = found->devices.size() > 1;
  found->counters = probe_counters(*this, found->devices[gpu ? 1 : 0], call);
  return found;
}

Result<Environment> Laboratory::machine(std::optional<int> device, CallContext& call) {
  Environment environment;
  environment.ratchet_version = options.version;
  environment.tools = tool_states(builder.toolchain());
  auto host = greeting(DeviceKind::host, 0, call);
  if (!host) return host.error();
  environment.devices.push_back(host->device);
  environment.sandbox = host->sandbox;
  auto cuda = greeting(DeviceKind::cuda, device.value_or(0), call);
  if (!cuda && device.value_or(0) > 0) return cuda.error();
  if (cuda) {
    environment.devices.push_back(cuda->device);
    environment.sandbox = fmt::format("host: {}; cuda: {}", host->sandbox, cuda->sandbox);
  }
  environment.implementations = implementation_states(builder.toolchain(), cuda.has_value());
  for (int other = 1; cuda && !device && other < cuda->devices; ++other)
    if (auto greeted = greeting(DeviceKind::cuda, other, call))
      environment.devices.push_back(greeted->device);
  return environment;
}

Result<std::vector<Ceiling>> Laboratory::ceilings(int device, DeviceKind kind, bool refresh,
                                                  CallContext& call) {
  auto turn = queue.wait(kind, device, call);
  if (!turn) return turn.error();
  auto measured = measured_ceilings(device, kind, refresh, call);
  if (!measured) return measured;
  auto info = greeting(kind, device, call);
  if (info) (void)noise_of(info->device, refresh, call);
  return measured;
}

Result<std::vector<Ceiling>> LabParts::measured_ceilings(int device, DeviceKind kind, bool refresh,
                                                         const CallContext& call) {
  auto info = greeting(kind, device, call);
  if (!info) return info.error();
  const auto path = options.state_dir / "ceilings" / (ceiling_key(info->device) + ".json");
  if (!refresh)
    if (auto stored = stored_ceilings(path)) return *std::move(stored);
  call.progress(0, std::nullopt, "measuring the device's ceilings");
  auto worker = WorkerProcess::start(worker_spec(place(kind, device), "judge", 0), call);
  if (!worker) return worker.error();
  auto reply = worker->run({.ceilings = wire::MeasureCeilings{}}, {}, kCeilingDeadline, call);
  if (!reply) return reply.error();
  if (reply->fault || !reply->ceilings)
    return unavailable("the ceilings could not be measured: " +
                       (reply->fault ? reply->fault->message : std::string("no answer")));
  StoredCeilings stored{info->device, {}};
  for (const auto& value : *reply->ceilings)
    stored.ceilings.push_back({value.what, value.value, value.unit});
  if (auto written = write_file(path, encode(stored).dump(2)); !written) return written.error();
  return std::move(stored.ceilings);
}

}  // namespace ratchet
