#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "kernels/build/builder.h"
#include "kernels/process/candidate_process.h"
#include "kernels/process/python_fork_server.h"
#include "kernels/process/spare_workers.h"
#include "kernels/protocol/messages.h"
#include "server/core/call_context.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Computes the expected answers of a contract, in a process that no candidate shares.
///
/// Thread rule: as WorkerProcess. Errors name the reference and what to change in it:
/// `invalid_argument` when it fails, hangs or raises.
class Reference {
 public:
  virtual ~Reference() = default;

  /// The arena with its outputs computed from its inputs.
  virtual Result<MemoryFile> answer(const Dims& dims, const CallPlan& plan, const MemoryFile& arena,
                                    const CallContext& call) = 0;

  /// The reference computed in float64, on an arena whose floating-point buffers are float64; empty
  /// where it cannot be had. Never an error: a reference that only works in its own types is one
  /// without a shadow.
  virtual std::optional<MemoryFile> shadow(const Dims& dims, const CallPlan& plan,
                                           const MemoryFile& arena, const CallContext& call) {
    (void)dims, (void)plan, (void)arena, (void)call;
    return std::nullopt;
  }

  /// Tolerances that the reference itself declares; empty if it declares none.
  [[nodiscard]] virtual std::optional<double> atol() const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<double> rtol() const { return std::nullopt; }
};

/// A call on one case with every floating-point buffer and number in float64. Pure.
[[nodiscard]] CallPlan wide_call_of(const Contract& contract, const Dims& dims,
                                    const wire::ArenaLayout& layout);

/// What references need from the machine.
struct ReferenceParts {
  WorkerPlace place;
  const Builder& builder;
  PythonForkServer& python;
  std::filesystem::path data_dir;  ///< holds cuda/judge.cu
  bool oversized = false;          ///< buffers are larger than what the reference answers with
  SpareWorkers* spares = nullptr;  ///< where judge and compiled reference may come from
};

/// The processes with which judge and reference begin.
struct JudgeSpecs {
  std::optional<WorkerSpec> judge, reference;
};

/// A built C++ or CUDA reference.
struct ReferenceLibrary {
  std::string bytes;  ///< of the shared object
  std::string entry;
};
/// Errors: `invalid_argument` with the first compiler error; `unavailable` without a compiler.
[[nodiscard]] Result<ReferenceLibrary> build_reference(const ReferenceParts& parts,
                                                       const Contract& contract,
                                                       const CallContext& call);

/// With which process a compiled reference begins that `open_reference` opens; empty of others.
[[nodiscard]] std::optional<WorkerSpec> compiled_reference_spec(const ReferenceParts& parts,
                                                                const Contract& contract,
                                                                std::int64_t arena_bytes);

/// Builds a compiled reference, or imports the frameworks of a Python one, so that opening it finds
/// that done. Needs no turn on the device. What fails here fails again there, and says so.
void warm_reference(const ReferenceParts& parts, const Contract& contract, const CallContext& call);

/// The error for a failing reference.
[[nodiscard]] Error reference_failed(const Fault& fault);

/// Builds or loads the contract's reference and starts its process. `arena_bytes`: the largest
/// arena it will see. Errors: as above; `unavailable` without compiler, Python or numpy.
[[nodiscard]] Result<std::unique_ptr<Reference>> open_reference(const ReferenceParts& parts,
                                                                const Contract& contract,
                                                                std::int64_t arena_bytes,
                                                                const CallContext& call);

}  // namespace ratchet
