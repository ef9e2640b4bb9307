#include "kernels/lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <thread>
#include <utility>

#include "kernels/build/target.h"
#include "kernels/build/toolchain.h"
#include "kernels/contract/hidden_cases.h"
#include "kernels/contract/layout.h"
#include "kernels/contract/left_open.h"
#include "kernels/contract/planner.h"
#include "kernels/contract/problem_entry.h"
#include "kernels/contract/problems.h"
#include "kernels/formats/importer.h"
#include "kernels/judge/device_trials.h"
#include "kernels/judge/extents.h"
#include "kernels/judge/judge.h"
#include "kernels/lab/judge_left.h"
#include "kernels/lab/laboratory.h"
#include "kernels/process/descendants.h"
#include "kernels/process/python_inputs.h"
#include "kernels/source/entry_plan.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {

namespace {

/// A check holds inputs, answers of candidate and reference and the same in float64 at once, and
/// intermediate results of both are often as large; half of the memory stays for others.
constexpr std::int64_t kCopies = 16;

bool is_ready(const Environment& there, Implementation wanted) {
  return std::ranges::any_of(there.implementations,
                             [&](const auto& one) { return one.name == wanted && one.ready; });
}

}  // namespace

Result<std::unique_ptr<Lab>> Lab::open(LabOptions options) {
  guard_server_process();
  auto builder =
      Builder::open({.cache = options.state_dir / "builds",
                     .find_toolchain = [python = options.python] { return find_toolchain(python); },
                     .programs = options.worker_dir});
  if (!builder) return builder.error();
  return std::unique_ptr<Lab>(
      std::make_unique<Laboratory>(std::move(options), *std::move(builder)));
}

LabParts::LabParts(LabOptions given, Builder with)
    : options(std::move(given)),
      builder(std::move(with)),
      host_python({options.python, options.data_dir, options.worker_dir, DeviceKind::host}),
      cuda_python({options.python, options.data_dir, options.worker_dir, DeviceKind::cuda}),
      queue(options.state_dir / "devices",
            [this](DeviceKind kind, int device, const CallContext& call) {
              if (kind == DeviceKind::host) return std::string();
              const auto greeted = greeting(kind, device, call);
              return greeted ? greeted->device.uuid : std::string();
            }) {}

WorkerPlace LabParts::place(DeviceKind kind, int device) {
  WorkerPlace where{options.worker_dir, kind, kind == DeviceKind::host ? 0 : device,
                    options.job_deadline};
  if (kind == DeviceKind::host) return where;
  // A device without a greeting has no workers either, and their start says why.
  if (const auto known = greeting(kind, device, CallContext())) where.gpu = known->gpu;
  return where;
}

ReferenceParts LabParts::reference_parts(const Contract& contract) {
  return {place(contract.device_kind, contract.device), builder, python_of(contract),
          options.data_dir};
}

Result<Lab*> Lab::named(const std::optional<std::string>& name) {
  if (!name) return this;
  return not_found(fmt::format("lab: there is no lab \"{}\"", *name),
                   "This server has no labs; start it with --lab NAME=COMMAND or --labs FILE.");
}

Result<std::optional<std::string>> Lab::successor(const MeasuredOn& /*run*/,
                                                  CallContext& /*call*/) {
  return std::optional<std::string>{};
}

Status Lab::spread(const Contract& contract, PieceWork work, const std::vector<Piece>& pieces,
                   CallContext& /*call*/) {
  std::vector<Status> done(pieces.size());
  if (work == PieceWork::builds) {
    // Compilers spend much of their time waiting for files.
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      threads.emplace_back([&, i] { done[i] = pieces[i].work(*this, contract); });
  } else {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (done[i] = pieces[i].work(*this, contract); !done[i]) break;
  }
  const auto failed = std::ranges::find_if(done, [](const Status& one) { return !one; });
  return failed == done.end() ? Status{} : *failed;
}

Result<Problem> Laboratory::problem(const std::string& name,
                                    const std::optional<std::string>& implementation,
                                    const Environment* there) {
  if (std::filesystem::path(name).is_absolute())
    return imported_problem(name, implementation, there);
  Implementation wanted = Implementation::host_cpp;
  if (implementation && *implementation != "auto") {
    auto named = implementation_named(*implementation);
    if (!named) return named.error();
    wanted = *named;
  } else if (there ? is_ready(*there, Implementation::cuda_cpp)
                   : builder.toolchain().nvcc && greeting(DeviceKind::cuda, 0, {})) {
    auto cuda = load_problem(options.data_dir, name, Implementation::cuda_cpp);
    if (cuda) return cuda;  // a problem may have no CUDA kernel; then the host is used
  }
  return load_problem(options.data_dir, name, wanted);
}

Result<Problem> Laboratory::imported_problem(const std::string& folder,
                                             const std::optional<std::string>& implementation,
                                             const Environment* there) {
  if (implementation && *implementation != "auto") {
    const auto named = implementation_named(*implementation);
    if (!named) return named.error();
    return load_problem(options.data_dir, folder, *named);
  }
  const bool cuda = there ? std::ranges::any_of(
                                there->devices,
                                [](const auto& device) { return device.kind == DeviceKind::cuda; })
                          : greeting(DeviceKind::cuda, 0, {}).has_value();
  // A compiled kernel has said its implementation by its name; what an import brings is in Python.
  return load_problem(options.data_dir, folder,
                      cuda ? Implementation::triton : Implementation::host_python);
}

Result<ImportedProblem> Laboratory::import_problem(ProblemImport import, CallContext& call) {
  if (import.most_bytes == 0) {
    auto device = greeting(DeviceKind::cuda, 0, call);
    if (!device) device = greeting(DeviceKind::host, 0, call);
    if (!device) return device.error();
    import.most_bytes = import.scale ? device->device.memory_bytes / kCopies
                                     : std::min(kMaxArenaBytes, device->device.memory_bytes);
  }
  return ratchet::import_problem(host_python, import, options.job_deadline, call);
}

std::vector<std::string> Laboratory::problem_names() const {
  return ratchet::problem_names(options.data_dir);
}

Result<Contract> Laboratory::plan(const TaskRequest& task, const Source& kernel,
                                  const Source& reference, const CallContext& call) {
  if (leaves_device_open(task, kernel) && !greeting(DeviceKind::cuda, task.device, call)) {
    auto here = task;
    here.implementation = std::string(name_of(Implementation::host_python));
    return plan(here, kernel, reference, call);
  }
  auto implementation = implementation_of_run(task.implementation, kernel.file_name);
  if (!implementation) return implementation.error();
  const auto kind = device_kind_of(*implementation);
  // Frameworks take longer than the first greeting of a device.
  if (reference.file_name.ends_with(".py"))
    (kind == DeviceKind::cuda ? cuda_python : host_python).begin_import(reference.text);
  auto device = greeting(kind, task.device, call);
  if (!device)
    return Error{device.error().code, device.error().message,
                 device.error().hint + (is_host(*implementation) || is_python(*implementation)
                                            ? ""
                                            : " To only build the kernel, call disassemble with "
                                              "`kernel` and `arch`: that needs no GPU.")};
  // The run before may have had the same reference.
  queue.hold(device->device.kind, device->device.index, {});
  auto function = inputs_function(kernel, reference);
  if (!function && leaves_extents_open(task, *implementation, reference))
    return plan_extents(task, kernel, reference, device->device);
  if (!function || !may_be_given(task))
    return plan_contract(task, kernel, reference, device->device);
  const bool cuda = device->device.kind == DeviceKind::cuda;
  std::vector<Parameter> parameters;
  if (!is_python(*implementation)) {
    const auto entry = entry_as_written(task, kernel, language_of(*implementation));
    if (!entry) {
      Contract unread;
      unread.kernel = kernel;
      unread.reference = reference;
      unread.implementation = *implementation;
      return explained_by_problem(entry.error(), unread, task);
    }
    parameters = entry->parameters;
  }
  function->scalars = task.scalars;
  const auto described_by = [&](std::optional<int> gpu) -> Result<TaskRequest> {
    auto inputs = PythonInputs::open(cuda ? cuda_python : host_python, *function, gpu,
                                     options.job_deadline, {});
    if (!inputs) return inputs.error();
    return inputs->described(task, parameters, {});
  };
  // Where the sizes are told, the function only says which inputs it makes, and its numbers.
  bool aside = false;
  if (cuda && !task.tensors.empty())
    if (const auto draft = plan_contract(task, kernel, reference, device->device))
      aside = has_small_inputs(*draft);
  const auto gpu = cuda ? std::optional(device->device.index) : std::nullopt;
  auto described = described_by(aside ? std::nullopt : gpu);
  if (!described && aside) described = described_by(gpu);
  if (!described) return described.error();
  return plan_contract(*described, kernel, reference, device->device);
}

Result<Contract> Laboratory::plan_extents(const TaskRequest& task, const Source& kernel,
                                          const Source& reference, const DeviceInfo& device) {
  const ReferenceParts parts{place(DeviceKind::host, 0), builder, host_python, options.data_dir};
  auto found = extents_of_reference(parts, task, kernel, reference, device, {});
  if (found && found->unclear.empty() && !found->tensors.empty()) {
    auto flat = task;
    flat.tensors = found->tensors;
    return plan_contract(flat, kernel, reference, device);
  }
  auto contract = plan_contract(task, kernel, reference, device);
  if (!contract || contract->device_kind != DeviceKind::host) return contract;
  if (found && found->unclear.empty()) return contract;
  // The compatible rule is a guess from the first case: it must hold where a check will try it.
  auto others = hidden_cases(*contract, "extents", 1);
  others.insert(others.end(), contract->cases.begin() + 1, contract->cases.end());
  auto judge = Judge::open(parts, *contract, {});
  if (!judge) return contract;  // its own error comes when the task is validated
  const auto failing = std::ranges::find_if(others, [&](const Case& other) {
    return !(*judge)->make_trial(other.dims, "normal", fresh_seed(), {});
  });
  if (failing == others.end()) return contract;
  return Error{
      ErrorCode::invalid_argument,
      fmt::format("tensors: the sizes of the buffers cannot be told from {}{}; with {} elements "
                  "each, it fails at {}",
                  reference.file_name, found ? ": " + found->unclear : "",
                  contract->tensors.front().shape.front(), dims_text(failing->dims)),
      fmt::format("Give their shapes: {}.",
                  tensors_example(contract->parameters,
                                  found ? found->tensors : std::vector<TensorSpec>{}))};
}

Result<std::string> Laboratory::target_of(const CompileRequest& request,
                                          Implementation implementation, CallContext& call) {
  if (is_only_built(implementation)) return resolve_hip_arch(request.arch);
  DeviceInfo device;
  device.kind = device_kind_of(implementation);
  if (device.kind == DeviceKind::host || !request.arch) {
    auto here = greeting(device.kind, 0, call);
    if (!here)
      return Error{here.error().code,
                   "arch: there is no GPU here to build for: " + here.error().message,
                   "Give the target, such as sm_90."};
    device = here->device;
  }
  return resolve_arch(request.arch, device, request.source.text);
}

Result<CompiledSource> Laboratory::compile(const CompileRequest& request, CallContext& call) {
  const auto implementation =
      resolve_implementation(request.implementation, request.source.file_name);
  if (!implementation) return implementation.error();
  if (is_python(*implementation))
    return invalid_argument("kernel: a Python kernel is compiled when it runs",
                            "Call create_run with it; .cpp, .cu and .hip files are built alone.");
  const auto arch = target_of(request, *implementation, call);
  if (!arch) return arch.error();
  TaskRequest task;
  task.entry = request.entry;
  task.flags = request.flags;
  const auto entry = entry_as_written(task, request.source, language_of(*implementation));
  if (!entry) return entry.error();
  CompiledSource compiled;
  auto& contract = compiled.contract;
  contract.implementation = *implementation;
  contract.device_kind = device_kind_of(*implementation);
  contract.arch = *arch;
  contract.entry = entry->entry;
  contract.flags = request.flags;
  contract.launch = entry->launch;
  auto candidate = build(contract, request.source, call);
  if (!candidate) return candidate.error();
  compiled.candidate = *std::move(candidate);
  return compiled;
}

Result<Candidate> LabParts::build(const Contract& contract, Source source, CallContext& call) {
  if (is_python(contract.implementation)) return build_python(contract, std::move(source), call);
  auto record = builder.build(kernel_build(contract, source), call);
  if (!record) return record.error();
  return Candidate{std::move(source), *std::move(record)};
}

Result<std::filesystem::path> LabParts::library_path(const Contract& contract,
                                                     const Candidate& candidate,
                                                     const CallContext& call) const {
  if (!candidate.build.ok)
    return Error{ErrorCode::wrong_stage, "this version's kernel did not build",
                 "Call submit_kernel."};
  auto path = builder.path_of(candidate.build.build_key);
  if (path) return path;
  const auto again = builder.build(kernel_build(contract, candidate.source), call);
  if (!again) return again.error();
  if (!again->ok || again->binary_digest != candidate.build.binary_digest)
    return Error{
        ErrorCode::drift,
        fmt::format("the kernel's binary is no longer in the build cache, and building its "
                    "source again with {} does not give the same one",
                    again->toolchain),
        "Call submit_kernel with the source, or create_run if it belongs to a closed "
        "version."};
  return builder.path_of(again->build_key);
}

Result<std::string> LabParts::library_of(const Contract& contract, const Candidate& candidate,
                                         const CallContext& call) const {
  const auto path = library_path(contract, candidate, call);
  if (!path) return path.error();
  auto library = read_file(*path);
  if (library && sha256_hex(*library) != candidate.build.binary_digest)
    return Error{ErrorCode::drift, "the kernel's binary in the build cache has changed",
                 "Call submit_kernel to build it again."};
  return library;
}

namespace {

/// A server that restarts may find itself on another machine, or its GPUs in another order.
Status on_its_device(LabParts& lab, const Contract& contract, const CallContext& call) {
  if (contract.device_name.empty()) return {};  // of a kernel without a run
  const auto here = lab.greeting(contract.device_kind, contract.device, call);
  if (!here) return here.error();
  if (here->device.name == contract.device_name) return {};
  return unavailable(
      fmt::format("device: the run was created on {}, and {} device {} of this machine is {}",
                  contract.device_name, name_of(contract.device_kind), contract.device,
                  here->device.name),
      "Times of different devices cannot be compared: go on where it was created, or create a run "
      "for this device.");
}

}  // namespace

Result<StartPlan> LabParts::start_plan(const Contract& contract, const Candidate& candidate,
                                       CandidateProcess::Use use, int arenas,
                                       const CallContext& call) {
  if (auto same = on_its_device(*this, contract, call); !same) return same.error();
  auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return arena_bytes.error();
  if (is_python(contract.implementation)) {
    // Compiles only what the cache no longer has; the kernel's own fault shows when it runs.
    if (auto again = compile_for(contract, candidate, {}, call); !again) return again.error();
    return python_plan(contract, candidate, use, *arena_bytes * arenas);
  }
  auto library = library_of(contract, candidate, call);
  if (!library) return library.error();
  const auto where = place(contract.device_kind, contract.device);
  const char* role = use == CandidateProcess::Use::count ? "counter" : "candidate";
  return StartPlan{worker_spec(where, role, *arena_bytes * arenas),
                   where.job_deadline,
                   {*std::move(library), {"the kernel's library", contract.entry, ""}}};
}

Result<CandidateProcess> LabParts::start(const Contract& contract, const Candidate& candidate,
                                         CandidateProcess::Use use, int arenas,
                                         const CallContext& call) {
  auto plan = start_plan(contract, candidate, use, arenas, call);
  if (!plan) return plan.error();
  auto process = CandidateProcess::launch(plan->spec, plan->deadline);
  if (!process) return process;
  if (auto loaded = process->load(plan->code, call); !loaded) return loaded.error();
  return process;
}

Result<std::vector<CandidateProcess>> LabParts::start_all(const Contract& contract,
                                                          const Versions& versions,
                                                          const CallContext& call,
                                                          const StartOptions& options) {
  std::vector<CandidateProcess> processes;
  std::vector<std::optional<CandidateProcess::Code>> codes;  // of those that have none yet
  // All start at once: creating a context takes longer than anything else a process does first.
  for (const auto& version : versions) {
    if (auto checked = options.checked ? options.checked->take(version.second->build.binary_digest)
                                       : std::nullopt) {
      processes.push_back(*std::move(checked));
      codes.emplace_back();
      continue;
    }
    auto plan =
        start_plan(contract, *version.second, CandidateProcess::Use::time, kMostArenas, call);
    if (!plan) return plan.error();
    if (processes.size() + 1 == versions.size()) plan->spec.processors = options.processors_of_last;
    auto process = CandidateProcess::launch(plan->spec, plan->deadline, options.spares);
    if (!process) return process.error();
    processes.push_back(*std::move(process));
    codes.emplace_back(std::move(plan->code));
  }
  for (std::size_t i = 0; i < processes.size(); ++i)
    if (codes[i])
      if (auto loaded = processes[i].load(*codes[i], call); !loaded) return loaded.error();
  return processes;
}

void LabParts::start_candidates(const Contract& contract, std::size_t count, SpareWorkers& spares) {
  const auto arena_bytes = largest_arena(contract);
  if (!arena_bytes || is_python(contract.implementation)) return;
  const auto where = place(contract.device_kind, contract.device);
  spares.keep(worker_spec(where, "candidate", *arena_bytes * kMostArenas), count, count);
}

bool LabParts::start_ahead(const Contract& contract, const Ahead& ahead, std::size_t most,
                           ProcessesAside& aside) {
  constexpr std::int64_t kContextBytes = std::int64_t{1} << 29;  // of a process on an H200
  if (!ahead.any() || is_python(contract.implementation)) return false;
  const auto arena_bytes = largest_arena(contract);
  const auto device = greeting(contract.device_kind, contract.device, {});
  if (!arena_bytes || !device) return false;
  const auto checks = static_cast<std::size_t>(ahead.checks);
  const auto races = ahead.races.size();
  const auto entrants =
      static_cast<std::size_t>(std::accumulate(ahead.races.begin(), ahead.races.end(), 0));
  // The next check goes on with the judge, and on a GPU with the reference that has been settled.
  const auto references = answers_on_device(contract) ? 0 : checks;
  const auto all = static_cast<std::int64_t>(entrants + checks + references + 2 * races);
  if (contract.device_kind == DeviceKind::cuda &&
      all * kContextBytes > device->device.memory_bytes / ProcessesAside::kShare)
    return false;
  const auto entrant = worker_spec(place(contract.device_kind, contract.device), "candidate",
                                   *arena_bytes * kMostArenas);
  const auto judges = judge_specs(reference_parts(contract), contract);
  auto& spares = aside.spares;
  start_candidates(contract, checks, spares);
  if (judges.reference) spares.keep(*judges.reference, references, references);
  // Those of the next checks are alike.
  most -= spares.keep(entrant, checks + entrants - std::min(entrants, aside.checked.size()), most);
  if (judges.judge) most -= spares.keep(*judges.judge, races, most);
  if (judges.reference) spares.keep(*judges.reference, races + references, most);
  return true;
}

}  // namespace ratchet
