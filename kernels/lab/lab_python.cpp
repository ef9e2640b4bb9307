// Python kernels: their compile pass, their processes, and frameworks as baselines.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ranges>
#include <tuple>
#include <utility>

#include "kernels/build/compiler_output.h"
#include "kernels/contract/input_init.h"
#include "kernels/lab/laboratory.h"
#include "server/core/clock.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kFormat = "1";  // part of the key: increase it when the pass changes
// Triton and ptxas take seconds per variant and an autotuned kernel has dozens; torch.compile is
// similar.
constexpr int kCompileCalls = 5;  // times the deadline of a call

CallStyle style_of(const Contract& contract) {
  return contract.call.value_or(CallStyle::run_kernel);
}

/// Whatever entry the contract names, `run_kernel` is called so.
std::string entry_of(const Contract& contract) {
  return has_signature(style_of(contract)) ? contract.entry
                                           : std::string(name_of(CallStyle::run_kernel));
}

CandidateProcess::Code code_of(const Contract& contract, const Source& source) {
  return {source.text,
          {source.file_name, entry_of(contract), "", style_of(contract), contract.signature}};
}

using Order = std::vector<Dims>;  ///< sizes of the calls of one process
using Orders = std::vector<Order>;

Order dims_of(const std::vector<Case>& cases) {
  Order dims;
  for (const auto& one : cases) dims.push_back(one.dims);
  return dims;
}

/// Parses "kernel.py:12: NameError: …".
Diagnostic diagnostic_of(const Fault& fault, const std::string& file_name) {
  Diagnostic diagnostic{file_name, 0, fault.message};
  const auto at = fault.message.find(file_name + ":");
  if (at == std::string::npos) return diagnostic;
  const auto number = at + file_name.size() + 1;
  const auto end = fault.message.find(": ", number);
  if (end == std::string::npos) return diagnostic;
  diagnostic.line = std::atoi(fault.message.c_str() + number);
  diagnostic.message = fault.message.substr(end + 2);
  return diagnostic;
}

std::pair<std::string, std::string> class_of(const Fault& fault) {
  if (fault.message.find("ModuleNotFoundError") != std::string::npos ||
      fault.message.find("install it for") != std::string::npos)
    return {"missing_module",
            "Install the module for the Python that check_env shows, or do not use it."};
  if (fault.kind == "timeout")
    return {"compile_timeout", "Import and first call took too long: compile fewer variants."};
  if (fault.kind == "load_error" || fault.kind == "exception")
    return {"python_error", "Fix the reported line and submit again."};
  if (fault.kind == kOutOfMemory)
    return {fault.kind,
            "Work in smaller parts, write into the given outputs, or use smaller sizes."};
  return {fault.kind, "The kernel's import or first call failed: fix it and submit again."};
}

/// Whether nothing in the source says that it compiles just in time. One that does so anyway is
/// without the files of a compile pass, and the walls of a check forbid programs.
bool calls_no_compiler(const Source& source) {
  constexpr std::array kWords{"triton",     "cutlass", "compile", "extension",
                              "subprocess", "popen",   "tvm",     "flashinfer"};
  return std::ranges::none_of(
      kWords, [&](const char* word) { return source.text.find(word) != std::string::npos; });
}

/// Whether its first call was all that there is to see, for any size.
bool is_plain(const PythonCache& cache, const Source& source) {
  return cache.record() && cache.compiled_nothing() && calls_no_compiler(source);
}

/// Whether what it compiles for a size may depend on the sizes before: of torch.compile, which
/// traces the first one as it is, and what differs later as a variable. As WANTED of compilers.py.
bool traces(const Source& source) {
  const auto has = [&](const char* word) { return source.text.find(word) != std::string::npos; };
  return has("torch.compile") || has("inductor") || (has("from torch import") && has("compile"));
}

std::string reason_without_baseline(const Contract& contract, const std::string& name) {
  if (contract.reference_kind != ReferenceKind::python)
    return "the reference is C++ or CUDA: there is no framework function to time";
  const auto& text = contract.reference.text;
  if (text.find("torch") == std::string::npos) return "the reference does not use torch";
  if (name == "flashinfer" && text.find("flashinfer") == std::string::npos)
    return "the reference does not support baseline=\"flashinfer\"";
  return "";
}

/// Which calls of a pass are the first of an order, but for the very first.
std::vector<std::size_t> later_beginnings(const Orders& orders) {
  std::vector<std::size_t> at;
  std::size_t calls = 0;
  for (const auto& order : orders) {
    if (calls > 0) at.push_back(calls);
    calls += order.size();
  }
  return at;
}

/// Calls the kernel where its compilers may work, in each of these orders as if its process began
/// there.
Result<std::optional<Fault>> compile_pass(LabParts& lab, const Contract& contract,
                                          const Candidate& candidate, const Orders& orders,
                                          const CallContext& call) {
  auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return arena_bytes.error();
  auto plan =
      lab.python_plan(contract, candidate, CandidateProcess::Use::compile, *arena_bytes * 2);
  if (!plan) return plan.error();
  if (const auto at = later_beginnings(orders); !at.empty())
    plan->spec.environment.push_back(fmt::format("FORGET_TRACES_AT={}", fmt::join(at, ",")));
  auto process = CandidateProcess::launch(plan->spec, plan->deadline);
  if (!process) return process.error();
  auto inputs = lab.throwaway_inputs(contract, call);
  if (!inputs) return inputs.error();
  if (auto loaded = process->load(plan->code, call); !loaded) return loaded.error();
  for (const auto& one : std::views::join(orders)) {
    if (process->fault()) break;
    const auto given = call_plan_of(contract, one);
    if (!given) return given.error();
    auto arena = inputs->arena(*given, one, "throwaway", call);
    if (!arena) return arena.error();
    auto returned = process->execute(*given, *arena, 0, call);
    if (!returned) return returned.error();
  }
  if (process->fault()) return process->fault();
  auto kept =
      lab.cache_of(candidate.build.build_key).keep(process->left_behind(), candidate.build, orders);
  if (!kept) return kept.error();
  return std::optional<Fault>{};
}

/// The orders in which a kernel has yet to be called, so that a process that gets sizes in one of
/// the given orders compiles nothing.
Orders missing_orders(const PythonCache& cache, const Source& source, Orders orders) {
  if (traces(source)) {
    std::erase_if(orders, [&](const Order& order) { return cache.covers(order); });
    return orders;
  }
  auto dims = cache.unknown(orders.front());  // which has all
  return dims.empty() ? Orders{} : Orders{std::move(dims)};
}

/// A pass over these orders, which ends with the first call of a kernel that turns out to be plain:
/// inputs of all sizes may take minutes to make.
Result<std::optional<Fault>> shortest_pass(LabParts& lab, const Contract& contract,
                                           const Candidate& candidate, const Orders& orders,
                                           const CallContext& call) {
  if (calls_no_compiler(candidate.source)) {
    const Orders first{{orders.front().front()}};
    auto fault = compile_pass(lab, contract, candidate, first, call);
    const auto cache = lab.cache_of(candidate.build.build_key);
    if (!fault || *fault || first == orders || is_plain(cache, candidate.source)) return fault;
  }
  return compile_pass(lab, contract, candidate, orders, call);
}

/// All sizes in a row, as a check calls them, then each alone, as it is timed.
Orders orders_of(const std::vector<Case>& cases) {
  const auto all = dims_of(cases);
  Orders orders{all};
  for (std::size_t i = 1; i < all.size(); ++i) orders.push_back(Order{all[i]});
  return orders;
}

}  // namespace

/// A context on a GPU costs more than these do on the processor.
bool has_small_inputs(const Contract& contract) {
  constexpr std::int64_t kMost = std::int64_t{64} << 20U;
  const auto bytes = largest_arena(contract);
  return bytes && *bytes <= kMost;
}

PythonForkServer& LabParts::python_of(const Contract& contract) {
  return contract.device_kind == DeviceKind::cuda ? cuda_python : host_python;
}

PythonCache LabParts::cache_of(const std::string& build_key) const {
  return PythonCache(options.state_dir / "python" / build_key);
}

Result<Candidate> LabParts::build_python(const Contract& contract, Source source,
                                         CallContext& call) {
  const auto begin = steady_clock::now();
  auto versions = python_of(contract).versions(source.text, call);
  if (!versions) return versions.error();
  BuildRecord record;
  record.source_digest = sha256_hex(source.text);
  record.toolchain = *versions;
  record.command = fmt::format("import {}; {}", source.file_name,
                               style_of(contract) == CallStyle::run_kernel
                                   ? "run_kernel(**inputs)"
                                   : fmt::format("{} as signed", entry_of(contract)));
  // This text under these versions, called so, is what is measured; compilers' caches are derived
  // from them.
  const auto called = contract.signature
                          ? fmt::format("\n{}\n{}", entry_of(contract), contract.signature->dump())
                          : "";
  record.binary_digest = sha256_hex(
      fmt::format("ratchet python {}\n{}\n{}\n{}\n{}{}", kFormat, *versions, contract.arch,
                  name_of(contract.device_kind), record.source_digest, called));
  record.build_key = record.binary_digest;
  const auto cache = cache_of(record.build_key);
  const auto missing = missing_orders(cache, source, orders_of(contract.cases));
  if (auto known = cache.record(); known && (missing.empty() || is_plain(cache, source))) {
    known->cached = true;
    known->build_ms = milliseconds_since(begin);
    return Candidate{std::move(source), *std::move(known)};
  }
  std::unique_ptr<DeviceQueue::Left> left;
  auto turn = queue.wait(contract.device_kind, contract.device, call, &left);
  if (!turn) return turn.error();
  record.ok = true;
  Candidate candidate{std::move(source), std::move(record)};
  auto fault = shortest_pass(*this, contract, candidate, missing, call);
  // Between two checks: an idle judge is no more within this kernel's reach than one at work is
  // within that of the kernel it judges.
  queue.give_back(*turn, std::move(left));
  if (!fault) return fault.error();
  candidate.build.build_ms = milliseconds_since(begin);
  if (!*fault) return candidate;
  candidate.build.ok = false;
  candidate.build.binary_digest.clear();
  std::tie(candidate.build.error_class, candidate.build.hint) = class_of(**fault);
  candidate.build.errors.push_back(diagnostic_of(**fault, candidate.source.file_name));
  return candidate;
}

LabParts::ThrowawayInputs::ThrowawayInputs(const Contract& contract, WorkerProcess worker,
                                           Inputs inputs, std::chrono::milliseconds deadline)
    : worker_(std::move(worker)), inputs_(std::move(inputs)), deadline_(deadline) {
  if (inputs_) given_ = given_inputs(contract);
}

Result<LabParts::ThrowawayInputs> LabParts::throwaway_inputs(const Contract& contract,
                                                             const CallContext& call) {
  auto worker = WorkerProcess::start(worker_spec(place(DeviceKind::host, 0), "judge", 0), call);
  if (!worker) return worker.error();
  const auto opened = [this, contract](std::optional<int> gpu, const CallContext& by) {
    return open_inputs(python_of(contract), contract, gpu, options.job_deadline, by);
  };
  const bool aside = gpu_of(contract) && has_small_inputs(contract);
  auto inputs = opened(aside ? std::nullopt : gpu_of(contract), call);
  const bool failed = !inputs;
  if (failed && aside) inputs = opened(gpu_of(contract), call);
  if (!inputs) return inputs.error();
  ThrowawayInputs made(contract, *std::move(worker), *std::move(inputs), options.job_deadline);
  if (aside && !failed)
    made.on_gpu_ = [opened, gpu = gpu_of(contract)](const CallContext& by) {
      return opened(gpu, by);
    };
  return made;
}

Status LabParts::ThrowawayInputs::fill(const wire::Generate& content, const Dims& dims,
                                       const MemoryFile& arena, const CallContext& call) {
  if (!inputs_) return {};
  auto filled = inputs_->fill(dims, content.layout, given_, content.seed, arena, call);
  if (filled || !on_gpu_ || call.canceled()) return filled;
  auto there = std::exchange(on_gpu_, {})(call);
  if (!there) return there.error();
  inputs_ = *std::move(there);
  return inputs_->fill(dims, content.layout, given_, content.seed, arena, call);
}

Result<MemoryFile> LabParts::ThrowawayInputs::arena(const CallPlan& plan, const Dims& dims,
                                                    const char* distribution,
                                                    const CallContext& call) {
  auto arena = MemoryFile::create("throwaway", plan.layout.bytes);
  if (!arena) return arena.error();
  const auto seed = hex(sha256(random_bytes(16)));
  const wire::Generate content{plan.layout, seed, distribution, index_limit(dims), given_};
  const int descriptor = arena->fd();
  auto made = worker_.run({.generate = content}, {&descriptor, 1}, deadline_, call);
  if (!made) return made.error();
  if (made->fault) return Error{ErrorCode::internal, made->fault->message};
  if (auto filled = fill(content, dims, *arena, call); !filled) return filled.error();
  if (auto sealed = arena->seal(); !sealed) return sealed.error();
  return arena;
}

Result<MemoryFile> LabParts::throwaway_arena(const Contract& contract, const CallPlan& plan,
                                             const Dims& dims, const CallContext& call) {
  auto inputs = throwaway_inputs(contract, call);
  if (!inputs) return inputs.error();
  return inputs->arena(plan, dims, "normal", call);
}

Result<std::optional<Fault>> LabParts::compile_for(const Contract& contract,
                                                   const Candidate& candidate,
                                                   const std::vector<Case>& cases,
                                                   const CallContext& call) {
  if (!is_python(contract.implementation)) return std::optional<Fault>{};
  const auto cache = cache_of(candidate.build.build_key);
  const auto missing = missing_orders(
      cache, candidate.source, cases.empty() ? orders_of(contract.cases) : Orders{dims_of(cases)});
  if (missing.empty() || is_plain(cache, candidate.source)) return std::optional<Fault>{};
  return compile_pass(*this, contract, candidate, missing, call);
}

Result<StartPlan> LabParts::python_plan(const Contract& contract, const Candidate& candidate,
                                        CandidateProcess::Use use, std::int64_t arena_bytes) {
  if (sha256_hex(candidate.source.text) != candidate.build.source_digest)
    return Error{ErrorCode::drift, "the kernel's source has changed since it was built",
                 "Call submit_kernel to build it again."};
  const bool compiles = use == CandidateProcess::Use::compile;
  const char* role = compiles                              ? "compiler"
                     : use == CandidateProcess::Use::count ? "counter"
                                                           : "candidate";
  const auto where = place(contract.device_kind, contract.device);
  StartPlan plan{python_of(contract).kernel_spec(where, role, arena_bytes, candidate.source),
                 where.job_deadline * (compiles ? kCompileCalls : 1),
                 code_of(contract, candidate.source)};
  plan.spec.furnish = [cache = cache_of(candidate.build.build_key)](
                          const std::filesystem::path& to) { return cache.furnish(to); };
  return plan;
}

Result<CandidateProcess> LabParts::start_baseline(const Contract& contract, const std::string& name,
                                                  int arenas, const CallContext& call) {
  if (auto why = reason_without_baseline(contract, name); !why.empty()) return unavailable(why);
  auto arena_bytes = largest_arena(contract);
  if (!arena_bytes) return arena_bytes.error();
  const auto& reference = contract.reference;
  const auto where = place(contract.device_kind, contract.device);
  auto process = CandidateProcess::launch(
      python_of(contract).kernel_spec(where, "baseline", *arena_bytes * arenas, reference),
      where.job_deadline * kCompileCalls);
  if (!process) return process;
  const CandidateProcess::Code code{
      reference.text, {reference.file_name, "reference", name, style_of(contract), {}}};
  if (auto loaded = process->load(code, call); !loaded) return loaded.error();
  // Missing modules and libraries are detected at load.
  if (process->fault() && process->fault()->kind == "load_error" &&
      process->fault()->message.find("install") != std::string::npos)
    return unavailable(process->fault()->message);
  return process;
}

}  // namespace ratchet
