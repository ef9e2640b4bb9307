#include "kernels/process/python_fork_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <future>
#include <utility>

#include "server/core/files.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNap(20);
constexpr milliseconds kStart(60'000);
constexpr milliseconds kImport(180'000);  // torch from a cold disk takes tens of seconds
// A torch process on CUDA maps this much of its libraries; 3 GiB observed.
constexpr std::size_t kFrameworkMemory = std::size_t{6} << 30U;

constexpr const char* kPlanFile = "plan.json";

constexpr std::array kFrameworks{"numpy", "torch", "triton", "cutlass", "tvm_ffi"};
constexpr std::array kOnTorch{"triton", "cutlass", "flashinfer"};

}  // namespace

std::vector<std::string> frameworks_in(std::string_view source) {
  std::vector<std::string> found;
  for (const char* name : kFrameworks)
    if (source.find(name) != std::string_view::npos) found.emplace_back(name);
  // Kernels of these take torch tensors, whether they mention torch or not (python/arena.py).
  const bool tensors = std::ranges::any_of(
      kOnTorch, [&](const char* name) { return source.find(name) != std::string_view::npos; });
  if (tensors && std::ranges::find(found, "torch") == found.end()) found.emplace_back("torch");
  return found;
}

PythonForkServer::Child PythonForkServer::kernel_child(const WorkerPlace& place,
                                                       const std::string& role,
                                                       const Source& source) const {
  const bool cuda = place.kind == DeviceKind::cuda;
  Child child{"kernel",
              {{"role", role},
               {"device", 0},  // the only one it can see
               {"cuda", cuda},
               {"library", library()},
               {"folder", role == "baseline" ? source.folder : ""}},
              frameworks_in(source.text),
              {}};
  if (cuda) {
    child.required.emplace_back("torch");
    child.needs.emplace_back("torch");
  } else {
    child.needs.emplace_back("numpy");
  }
  return child;
}

WorkerSpec PythonForkServer::kernel_spec(const WorkerPlace& place, const std::string& role,
                                         std::int64_t arena_bytes, const Source& source) {
  auto spec = spec_of(kernel_child(place, role, source));
  const auto limits = worker_spec(place, role, arena_bytes);
  spec.environment = limits.environment;
  spec.address_space_bytes = limits.address_space_bytes;
  spec.memory_bytes = limits.memory_bytes + kFrameworkMemory;
  if (limits.resident_bytes) spec.resident_bytes = *limits.resident_bytes + kFrameworkMemory;
  return spec;
}

WorkerSpec PythonForkServer::alone_spec(const WorkerPlace& place, const std::string& role,
                                        const Source& source) const {
  const auto child = kernel_child(place, role, source);
  WorkerSpec spec;
  spec.environment = worker_spec(place, role, 0).environment;
  spec.argv = {options_.python, "-I", "-B",
               (options_.data_dir / "python" / "standalone.py").string(), kPlanFile};
  spec.furnish = [plan = Json{{"part", child.part}, {"plan", child.plan}, {"needs", child.needs}}](
                     const std::filesystem::path& folder) {
    return write_file(folder / kPlanFile, plan.dump());
  };
  return spec;
}

WorkerSpec PythonForkServer::server_spec(const std::string& part, std::string_view source) {
  auto needs = frameworks_in(source);
  if (std::ranges::find(needs, "torch") == needs.end()) needs.emplace_back("numpy");
  auto spec = spec_of({part, {{"library", library()}}, std::move(needs), {}});
  // Memory that was taken and never touched counts in no control group. CUDA reserves far more.
  if (options_.kind == DeviceKind::host) spec.address_space_bytes = spec.memory_bytes;
  return spec;
}

std::string PythonForkServer::library() const {
  const bool cuda = options_.kind == DeviceKind::cuda;
  return (options_.worker_dir / (cuda ? "libratchet-embedded-cuda.so" : "libratchet-embedded.so"))
      .string();
}

WorkerSpec PythonForkServer::spec_of(Child child) {
  WorkerSpec spec;
  spec.argv = {options_.python};
  spec.memory_bytes = most_memory();  // what a reference, inputs or an import need is not known
  spec.start_deadline = kStart;
  spec.spawn = [this, child = std::move(child)](const ProcessSpec& process) {
    return fork(child, process);
  };
  return spec;
}

std::vector<std::string> PythonForkServer::needs_of(std::string_view source) const {
  auto needs = frameworks_in(source);
  needs.emplace_back(options_.kind == DeviceKind::cuda ? "torch" : "numpy");
  return needs;
}

void PythonForkServer::begin_import(const std::string& source) {
  const std::lock_guard lock(begun_guard_);
  if (!begun_.insert(needs_of(source)).second) return;
  // What fails here fails again for who needs it, and says so.
  importers_.emplace_back([this, needs = needs_of(source)](const std::stop_token& stop) {
    (void)ask({{"needs", needs}, {"fork", false}}, {}, CallContext({}, stop));
  });
}

Result<std::string> PythonForkServer::versions(std::string_view source, const CallContext& call) {
  const auto needs = needs_of(source);
  auto answer = ask({{"needs", needs}, {"fork", false}}, {}, call);
  if (!answer) return answer.error();
  std::string text;
  for (const auto& [name, version] : (*answer)["versions"].items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, version.get<std::string>());
  return text;
}

Result<Process> PythonForkServer::fork(const Child& child, const ProcessSpec& spec) {
  std::vector<int> descriptors;
  std::vector<int> numbers;
  for (const auto& [ours, theirs] : spec.descriptors) {
    descriptors.push_back(ours);
    numbers.push_back(theirs);
  }
  Json request{{"part", child.part},
               {"plan", child.plan},
               {"needs", child.needs},
               {"fork", true},
               {"environment", spec.environment},
               {"folder", spec.folder.string()},
               {"numbers", numbers},
               {"address_space_bytes", nullptr},
               {"file_size_bytes", nullptr}};
  if (spec.address_space_bytes) request["address_space_bytes"] = *spec.address_space_bytes;
  if (spec.file_size_bytes) request["file_size_bytes"] = *spec.file_size_bytes;
  auto answer = ask(request, descriptors, {});
  if (!answer) return answer.error();
  if (answer->contains("failed"))
    return Error{ErrorCode::unavailable, answer->value("failed", ""), ""};
  const auto pid = answer->value("pid", -1);
  auto process = Process::adopted(pid);
  // It waits for its first message, so it runs none of the user's code yet. If it has ended already
  // (ESRCH), whoever waits for it learns why.
  const auto number = std::to_string(pid);
  for (const int group : spec.joins)
    if (::write(group, number.data(), number.size()) < 0 && errno != ESRCH)
      return unavailable(fmt::format("{}: a process cannot be put into its control group: {}",
                                     options_.python, std::strerror(errno)),
                         "Without it, nothing would limit its memory; check_env shows the walls.");
  for (const auto& name : child.required)
    if (answer->at("missing").contains(name))
      return Error{ErrorCode::unavailable,
                   fmt::format("{} cannot import {}: {}", options_.python, name,
                               answer->at("missing")[name].get<std::string>()),
                   "Install it, or name another interpreter with --python."};
  return process;
}

Result<Json> PythonForkServer::ask(const Json& question, std::span<const int> descriptors,
                                   const CallContext& call) {
  std::unique_lock lock(guard_, std::defer_lock);
  while (!lock.try_lock_for(kNap))
    if (call.canceled()) return Error{ErrorCode::timed_out, "the call was canceled", ""};
  if (!process_ || !process_->alive())
    if (auto started = start(); !started) return started.error();
  auto answer = process_->ask(question, descriptors, kImport, call);
  if (!answer) return answer.error();
  if (answer->fault)
    return Error{ErrorCode::unavailable,
                 fmt::format("{} failed ({}): {}", options_.python, answer->fault->kind,
                             answer->fault->message),
                 "check_env shows the Python that is used."};
  return std::move(answer->body);
}

Status PythonForkServer::start() {
  WorkerSpec spec;
  // Isolated from the user's settings and paths; writes no byte code.
  spec.argv = {options_.python, "-I", "-B",
               (options_.data_dir / "python" / "fork_server.py").string()};
  if (options_.kind == DeviceKind::host) spec.argv.emplace_back("--interpret");
  spec.start_deadline = kStart;
  keeper_ = {};  // ends the previous thread
  std::promise<Result<WorkerProcess>> started;
  auto process = started.get_future();
  keeper_ = std::jthread([&started, &spec, this](const std::stop_token& stop) {
    started.set_value(WorkerProcess::start(spec, {}));
    std::mutex alone;
    std::unique_lock lock(alone);
    never_.wait(lock, stop, [] { return false; });
  });
  auto result = process.get();
  if (!result) return result.error();
  process_.emplace(*std::move(result));
  return {};
}

}  // namespace ratchet
