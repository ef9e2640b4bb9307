#include "kernels/judge/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "kernels/contract/layout.h"
#include "kernels/judge/python_reference.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

constexpr std::string_view kFixReference = "Fix the reference and create the run again.";

/// A C++ or CUDA `extern "C" void reference(...)` with the parameters of the kernel.
class CompiledReference : public Reference {
 public:
  /// `start_shadow`: starts the same reference compiled for float64; empty if there is none.
  using StartShadow = std::function<Result<CandidateProcess>(const CallContext&)>;
  CompiledReference(CandidateProcess process, StartShadow start_shadow)
      : process_(std::move(process)), start_shadow_(std::move(start_shadow)) {}

  Result<MemoryFile> answer(const Dims&, const CallPlan& plan, const MemoryFile& arena,
                            const CallContext& call) override {
    auto answered = process_.execute(plan, arena, 0, call);
    if (!answered) return answered.error();
    if (!*answered) return reference_failed(*process_.fault());
    return *std::move(*answered);
  }

  std::optional<MemoryFile> shadow(const Dims&, const CallPlan& plan, const MemoryFile& arena,
                                   const CallContext& call) override {
    if (!shadow_ && start_shadow_) {
      auto started = std::exchange(start_shadow_, nullptr)(call);
      if (started && !started->fault()) shadow_ = *std::move(started);
    }
    if (!shadow_) return std::nullopt;
    auto answered = shadow_->execute(plan, arena, 0, call);
    if (answered && *answered) return *std::move(answered);
    shadow_.reset();
    return std::nullopt;
  }

 private:
  CandidateProcess process_;
  StartShadow start_shadow_;
  std::optional<CandidateProcess> shadow_;
};

/// The reference's text in which float means double, behind its includes.
std::string widened_text(const std::string& text) {
  std::string includes, rest;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const auto line = text.substr(at, end - at);
    const bool include = line.starts_with("#include");
    if (include) includes += line;
    rest += include ? "\n" : line;
    at = end;
  }
  return includes + "#define float double\n#define _Float16 double\n" + rest;
}

Error build_failed(const BuildRecord& build, const std::string& file_name) {
  std::string text = "the reference " + file_name + " does not build";
  if (!build.errors.empty()) text += ": " + build.errors.front().text();
  return invalid_argument(text, build.hint.value_or(std::string(kFixReference)));
}

/// float32 and float16 only: other types are integers or classes of their own in C++.
bool may_widen(const Contract& contract) {
  return contract.judge && contract.reference_kind == ReferenceKind::cpp &&
         std::ranges::any_of(contract.tensors,
                             [](const TensorSpec& tensor) { return is_floating(tensor.dtype); }) &&
         std::ranges::all_of(contract.tensors, [](const TensorSpec& tensor) {
           return !is_floating(tensor.dtype) || tensor.dtype == DType::f32 ||
                  tensor.dtype == DType::f16 || tensor.dtype == DType::f64;
         });
}

/// Where a compiled reference runs.
WorkerPlace compiled_place(const ReferenceParts& parts, const Contract& contract) {
  WorkerPlace place = parts.place;
  place.kind = contract.reference_kind == ReferenceKind::cuda ? DeviceKind::cuda : DeviceKind::host;
  if (place.kind == DeviceKind::host) place.device = 0;
  return place;
}

Result<std::unique_ptr<Reference>> open_compiled(const ReferenceParts& parts,
                                                 const Contract& contract, std::int64_t arena_bytes,
                                                 const CallContext& call) {
  const auto library = build_reference(parts, contract, call);
  if (!library) return library.error();
  const auto place = compiled_place(parts, contract);
  auto process = CandidateProcess::launch(worker_spec(place, "candidate", arena_bytes),
                                          place.job_deadline, parts.spares);
  if (!process) return process.error();
  const CandidateProcess::Code code{library->bytes, {"the kernel's library", library->entry, ""}};
  if (auto loaded = process->load(code, call); !loaded) return loaded.error();
  if (process->fault()) return reference_failed(*process->fault());
  CompiledReference::StartShadow start_shadow;
  if (may_widen(contract))
    start_shadow = [parts, contract, place,
                    arena_bytes](const CallContext& later) -> Result<CandidateProcess> {
      auto wide = contract;
      wide.reference.text = widened_text(contract.reference.text);
      const auto library_in_double = build_reference(parts, wide, later);
      if (!library_in_double) return library_in_double.error();
      // No type grows more than fourfold, and guards stay as they are.
      return CandidateProcess::start(place, CandidateProcess::Use::time, 4 * arena_bytes,
                                     library_in_double->bytes, library_in_double->entry, later);
    };
  return std::unique_ptr<Reference>(
      std::make_unique<CompiledReference>(*std::move(process), std::move(start_shadow)));
}

}  // namespace

CallPlan wide_call_of(const Contract& contract, const Dims& dims, const wire::ArenaLayout& layout) {
  auto wide = widened(layout);
  auto arguments = arguments_of(contract, dims, wide);
  for (auto& argument : arguments)
    if (is_floating(argument.dtype)) argument.dtype = DType::f64;
  return {std::move(wide), std::move(arguments)};
}

Error reference_failed(const Fault& fault) {
  return invalid_argument("the reference failed: " + fault.text(), std::string(kFixReference));
}

Result<ReferenceLibrary> build_reference(const ReferenceParts& parts, const Contract& contract,
                                         const CallContext& call) {
  const auto request = reference_build(contract);
  auto build = parts.builder.build(request, call);
  if (!build) return build.error();
  if (!build->ok) return build_failed(*build, contract.reference.file_name);
  const auto path = parts.builder.path_of(build->build_key);
  if (!path) return path.error();
  auto bytes = read_file(*path);
  if (!bytes) return bytes.error();
  return ReferenceLibrary{*std::move(bytes), request.entry};
}

std::optional<WorkerSpec> compiled_reference_spec(const ReferenceParts& parts,
                                                  const Contract& contract,
                                                  std::int64_t arena_bytes) {
  if (contract.reference_kind == ReferenceKind::python) return std::nullopt;
  return worker_spec(compiled_place(parts, contract), "candidate", arena_bytes);
}

void warm_reference(const ReferenceParts& parts, const Contract& contract,
                    const CallContext& call) {
  if (contract.reference_kind == ReferenceKind::python)
    (void)parts.python.versions(contract.reference.text, call);
  else
    (void)build_reference(parts, contract, call);
}

Result<std::unique_ptr<Reference>> open_reference(const ReferenceParts& parts,
                                                  const Contract& contract,
                                                  std::int64_t arena_bytes,
                                                  const CallContext& call) {
  if (contract.reference_kind == ReferenceKind::python)
    return open_python_reference(parts, contract, call);
  return open_compiled(parts, contract, arena_bytes, call);
}

}  // namespace ratchet
