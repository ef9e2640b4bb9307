#include "kernels/judge/reference.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "kernels/judge/python_reference.h"
#include "server/core/files.h"

namespace ratchet {
namespace {

constexpr std::string_view kFixReference = "Fix the reference and create the run again.";

/// A C++ or CUDA `extern "C" void reference(...)` with the parameters of the kernel.
class CompiledReference : public Reference {
 public:
  explicit CompiledReference(CandidateProcess process) : process_(std::move(process)) {}

  Result<MemoryFile> answer(const Dims&, const CallPlan& plan, const MemoryFile& arena,
                            const CallContext& call) override {
    auto answered = process_.execute(plan, arena, 0, call);
    if (!answered) return answered.error();
    if (!*answered) return reference_failed(*process_.fault());
    return *std::move(*answered);
  }

 private:
  CandidateProcess process_;
};

Error build_failed(const BuildRecord& build, const std::string& file_name) {
  std::string text = "the reference " + file_name + " does not build";
  if (!build.errors.empty()) text += ": " + build.errors.front().text();
  return invalid_argument(text, std::string(kFixReference));
}

Result<std::unique_ptr<Reference>> open_compiled(const ReferenceParts& parts,
                                                 const Contract& contract, std::int64_t arena_bytes,
                                                 const CallContext& call) {
  const auto library = build_reference(parts, contract, call);
  if (!library) return library.error();
  WorkerPlace place = parts.place;
  place.kind = contract.reference_kind == ReferenceKind::cuda ? DeviceKind::cuda : DeviceKind::host;
  if (place.kind == DeviceKind::host) place.device = 0;
  auto process = CandidateProcess::start(place, CandidateProcess::Use::time, arena_bytes,
                                         library->bytes, library->entry, call);
  if (!process) return process.error();
  if (process->fault()) return reference_failed(*process->fault());
  return std::unique_ptr<Reference>(std::make_unique<CompiledReference>(*std::move(process)));
}

}  // namespace

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

Result<std::unique_ptr<Reference>> open_reference(const ReferenceParts& parts,
                                                  const Contract& contract,
                                                  std::int64_t arena_bytes,
                                                  const CallContext& call) {
  if (contract.reference_kind == ReferenceKind::python)
    return open_python_reference(parts, contract, call);
  return open_compiled(parts, contract, arena_bytes, call);
}

}  // namespace ratchet
