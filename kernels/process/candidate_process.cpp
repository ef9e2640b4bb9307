#include "kernels/process/candidate_process.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ranges>
#include <string_view>
#include <thread>

namespace ratchet {
namespace {

using std::chrono::milliseconds;

constexpr int kMostUses = 100'000;  // of one arena between two prepares; a block has at most 50
constexpr std::int64_t kMebi = std::int64_t{1} << 20U;
constexpr std::int64_t kKernelMemory = 2048 * kMebi;  // for the kernel's own use
// Address space of each OpenMP thread: a stack of 8 MiB and a malloc arena of 64 MiB.
constexpr std::int64_t kThreadMemory = 80 * kMebi;

/// The worker's process also runs the kernel, so its report is checked against our own clock.
bool plausible(const wire::Samples& samples, const wire::TimeBlock& block, double wall_ns) {
  double sum = 0;
  for (const double elapsed : samples.elapsed_ns) {
    if (!(elapsed > 0)) return false;
    sum += elapsed;
  }
  const auto count = samples.elapsed_ns.size();
  return count > 0 && count <= static_cast<std::size_t>(block.samples) && sum <= wall_ns;
}

/// Which GPU a process sees, and the only node of a GPU that it may open. By UUID, since a process
/// that cannot open the other nodes counts fewer GPUs.
std::vector<std::string> gpu_environment(const WorkerPlace& place) {
  if (!place.gpu) return {only_gpu(std::getenv("CUDA_VISIBLE_DEVICES"), place.device)};
  return {"CUDA_VISIBLE_DEVICES=" + place.gpu->uuid,
          "RATCHET_GPU_NODE=" + place.gpu->node.string()};
}

WorkerSpec program_spec(const WorkerPlace& place, const std::string& role, int device) {
  const char* program = place.kind == DeviceKind::cuda ? "ratchet-worker-cuda" : "ratchet-worker";
  WorkerSpec spec;
  spec.argv = {(place.worker_dir / program).string(), role, std::to_string(device)};
  return spec;
}

}  // namespace

std::string only_gpu(const char* visible, int index) {
  std::string variable = "CUDA_VISIBLE_DEVICES=";
  if (!visible) return variable + std::to_string(index);
  for (const auto name : std::string_view(visible) | std::views::split(',') |
                             std::views::drop(index) | std::views::take(1))
    variable.append(name.begin(), name.end());
  return variable;
}

WorkerSpec lookout_spec(const WorkerPlace& place) {
  return program_spec(place, "candidate", place.device);
}

WorkerSpec worker_spec(const WorkerPlace& place, const std::string& role,
                       std::int64_t arena_bytes) {
  const bool cuda = place.kind == DeviceKind::cuda;
  auto spec = program_spec(place, role, 0);
  if (cuda) spec.environment = gpu_environment(place);
  const std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
  // Twice: an arena exists as a memory file and as the device's copy.
  const auto limit =
      static_cast<std::size_t>(kKernelMemory + threads * kThreadMemory + 2 * arena_bytes);
  if (role != "judge") spec.memory_bytes = limit;
  if (cuda) {
    spec.resident_bytes = limit;
    return spec;
  }
  if (role != "judge") spec.address_space_bytes = limit;
  return spec;
}

Result<CandidateProcess> CandidateProcess::start(const WorkerPlace& place, Use use,
                                                 std::int64_t arena_bytes, std::string_view library,
                                                 const std::string& entry,
                                                 const CallContext& call) {
  auto candidate =
      launch(worker_spec(place, use == Use::time ? "candidate" : "counter", arena_bytes),
             place.job_deadline);
  if (!candidate) return candidate;
  const Code code{std::string(library), {"the kernel's library", entry, ""}};
  if (auto loaded = candidate->load(code, call); !loaded) return loaded.error();
  return candidate;
}

Result<CandidateProcess> CandidateProcess::launch(const WorkerSpec& spec, milliseconds deadline,
                                                  SpareWorkers* spares) {
  auto worker = launched(spares, spec);
  if (!worker) return worker.error();
  return CandidateProcess(*std::move(worker), deadline);
}

Status CandidateProcess::greet(const CallContext& call) {
  if (greeted_) return {};
  if (auto greeted = worker_.greet(call); !greeted) return greeted;
  if (const auto ready = decode_stored<wire::Reply>(worker_.ready()); !ready || ready->error)
    return Error{ErrorCode::unavailable,
                 ready ? *ready->error : "the worker process sent a malformed first message",
                 "check_env shows the devices."};
  greeted_ = true;
  return {};
}

Status CandidateProcess::load(const Code& code, const CallContext& call) {
  auto file = MemoryFile::holding("kernel", code.content);
  if (!file) return file.error();
  if (auto greeted = greet(call); !greeted) return greeted;
  wire::Request request;
  request.load = code.plan;
  const int descriptor = file->fd();
  auto reply = ask(request, {&descriptor, 1}, deadline_, call);
  if (!reply) return reply.error();
  return {};
}

const std::filesystem::path& CandidateProcess::left_behind() {
  worker_.end();
  return worker_.folder();
}

Result<wire::Reply> CandidateProcess::ask(const wire::Request& request,
                                          std::span<const int> descriptors, milliseconds deadline,
                                          const CallContext& call) {
  if (fault_) {
    wire::Reply reply;
    reply.fault = fault_;
    return reply;
  }
  auto reply = worker_.run(request, descriptors, deadline, call);
  if (reply && reply->fault) fault_ = reply->fault;
  return reply;
}

Result<std::optional<MemoryFile>> CandidateProcess::sealed(MemoryFile file) {
  if (fault_) return std::optional<MemoryFile>{};
  if (auto sealed = file.seal(); !sealed) {
    if (sealed.error().code != ErrorCode::conflict) return sealed.error();
    fault_ =
        Fault{"kept_output", "the kernel keeps its answer mapped, so it could change it later"};
    return std::optional<MemoryFile>{};
  }
  return std::optional<MemoryFile>(std::move(file));
}

Result<std::optional<MemoryFile>> CandidateProcess::execute(
    const CallPlan& plan, const MemoryFile& arena, std::int64_t shift, const CallContext& call,
    const std::optional<wire::MadeInputs>& inputs) {
  auto out = MemoryFile::create("answer", plan.layout.bytes);
  if (!out) return out.error();
  wire::Request request;
  request.execute = wire::Execute{plan.layout, plan.arguments, shift, inputs};
  const std::array descriptors{arena.fd(), out->fd()};
  auto reply = ask(request, descriptors, deadline_, call);
  if (!reply) return reply.error();
  return sealed(*std::move(out));
}

Status CandidateProcess::attach(std::span<const Fd> memory, std::int64_t bytes,
                                const CallContext& call) {
  return attach(memory, wire::Attach{bytes, false}, call);
}

Status CandidateProcess::attach_wide(std::span<const Fd> memory, std::int64_t bytes,
                                     const CallContext& call) {
  return attach(memory, wire::Attach{bytes, true}, call);
}

Result<std::optional<Fault>> CandidateProcess::run_wide(const CallPlan& plan,
                                                        const CallContext& call) {
  if (fault_) return fault_;
  wire::Request request;
  request.call = wire::Call{plan.layout, plan.arguments, 0, {}, true};
  auto reply = worker_.run(request, {}, deadline_, call);
  if (!reply) return reply.error();
  if (!reply->fault) return std::optional<Fault>{};
  const auto& kind = reply->fault->kind;
  if (kind != "exception" && kind != "load_error") fault_ = reply->fault;
  return std::move(reply->fault);
}

Status CandidateProcess::attach(std::span<const Fd> memory, const wire::Attach& plan,
                                const CallContext& call) {
  wire::Request request;
  request.attach = plan;
  std::vector<int> descriptors;
  for (const auto& piece : memory) descriptors.push_back(piece.get());
  auto reply = ask(request, descriptors, deadline_, call);
  if (!reply) return reply.error();
  return {};
}

Status CandidateProcess::detach(const CallContext& call) {
  return attach({}, 0, call);
}

Status CandidateProcess::run_attached(const CallPlan& plan, std::int64_t at,
                                      const CallContext& call,
                                      const std::optional<wire::MadeInputs>& inputs) {
  wire::Request request;
  request.call = wire::Call{plan.layout, plan.arguments, at, inputs, false};
  auto reply = ask(request, {}, deadline_, call);
  if (!reply) return reply.error();
  return {};
}

Status CandidateProcess::exercise(const CallPlan& plan, const MemoryFile& arena,
                                  const CallContext& call) {
  wire::Request request;
  request.exercise = wire::Exercise{plan.layout, plan.arguments};
  const int descriptor = arena.fd();
  auto reply = ask(request, {&descriptor, 1}, deadline_, call);
  if (!reply) return reply.error();
  return {};
}

const std::filesystem::path& CandidateProcess::finished(milliseconds limit) {
  (void)worker_.finish(limit);
  return worker_.folder();
}

Status CandidateProcess::prepare(const CallPlan& plan, const Rotation& rotation,
                                 const CallContext& call) {
  wire::Request request;
  request.prepare =
      wire::Prepare{plan.layout,
                    plan.arguments,
                    static_cast<int>(std::max(rotation.arenas.size(), rotation.at.size())),
                    rotation.shift,
                    rotation.at,
                    rotation.writes_all,
                    rotation.refresh_seeds};
  std::vector<int> descriptors;
  for (const auto* arena : rotation.arenas) descriptors.push_back(arena->fd());
  auto reply = ask(request, descriptors, deadline_, call);
  if (!reply) return reply.error();
  return {};
}

Result<wire::Samples> CandidateProcess::time(const wire::TimeBlock& block,
                                             const CallContext& call) {
  wire::Request request;
  request.time = block;
  // Past its limit, a block may still finish its current call, and its warm-up comes first.
  const auto deadline = deadline_ + milliseconds(static_cast<long>(block.time_limit_ms));
  const auto start = std::chrono::steady_clock::now();
  auto reply = ask(request, {}, deadline, call);
  if (!reply) return reply.error();
  const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - start;
  if (!fault_ && !(reply->samples && plausible(*reply->samples, block, wall.count())))
    fault_ = Fault{"forged_reply",
                   "the samples are implausible: more of them, or more time, than "
                   "passed on the server's clock"};
  return fault_ ? wire::Samples{} : *std::move(reply->samples);
}

Result<std::optional<CandidateProcess::Collected>> CandidateProcess::collect(
    int index, std::int64_t bytes, const CallContext& call) {
  auto out = MemoryFile::create("timed answer", bytes);
  if (!out) return out.error();
  const int descriptor = out->fd();
  const auto uses = collected(index, {&descriptor, 1}, call);
  if (!uses) return uses.error();
  auto arena = sealed(*std::move(out));
  if (!arena) return arena.error();
  if (!*arena) return std::optional<Collected>{};
  return std::optional<Collected>(Collected{**std::move(arena), *uses});
}

Result<int> CandidateProcess::uses(int index, const CallContext& call) {
  return collected(index, {}, call);
}

Result<int> CandidateProcess::collected(int index, std::span<const int> descriptors,
                                        const CallContext& call) {
  wire::Request request;
  request.collect = wire::Collect{index};
  auto reply = ask(request, descriptors, deadline_, call);
  if (!reply) return reply.error();
  const int uses = reply->uses.value_or(0);
  if (!fault_ && (uses < 0 || uses > kMostUses))
    fault_ = Fault{"forged_reply", "the reported number of calls is implausible"};
  return uses;
}

Result<wire::Counters> CandidateProcess::count(const wire::Count& plan, const CallContext& call) {
  wire::Request request;
  request.count = plan;
  auto reply = ask(request, {}, deadline_, call);
  if (!reply) return reply.error();
  return reply->counters.value_or(wire::Counters{});
}

}  // namespace ratchet
