#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernels/judge/reference.h"
#include "kernels/process/worker_process.h"

namespace ratchet {

/// A `reference(**kwargs)` in a Python process that runs python/reference.py and serves all cases
/// and seeds. Tensors are views of the arena's own memory, flat or in the contract's shapes. See
/// `open_reference` for errors; a raised exception is reported with the reference's line.
[[nodiscard]] Result<std::unique_ptr<Reference>> open_python_reference(const ReferenceParts& parts,
                                                                       const Contract& contract,
                                                                       const CallContext& call);

/// Whether the ref.py says itself which answers are right, in `check_outputs(inputs, outputs)`:
/// outputs are then not compared with the reference's, which may be one right answer of many.
[[nodiscard]] bool checks_properties(const Contract& contract);

/// A `check_outputs` in a process of its own, which has the reference's walls and never answers:
/// what a candidate wrote cannot reach the process that computes expected values.
///
/// Thread rule: as WorkerProcess. Errors: as `open_reference`.
class PropertyCheck {
 public:
  /// Empty where `checks_properties` says no.
  static Result<std::optional<PropertyCheck>> open(const ReferenceParts& parts,
                                                   const Contract& contract,
                                                   const CallContext& call);

  /// What is wrong with the outputs in `returned`, beside the inputs in `sent`; empty if they are
  /// right. A check that raises objects with what it raised: outputs may make it.
  Result<std::string> objection(const Dims& dims, const CallPlan& plan, const MemoryFile& sent,
                                const MemoryFile& returned, const CallContext& call);

 private:
  PropertyCheck(WorkerProcess process, std::string file_name, std::chrono::milliseconds deadline)
      : process_(std::move(process)), file_name_(std::move(file_name)), deadline_(deadline) {}

  WorkerProcess process_;
  std::string file_name_;
  std::chrono::milliseconds deadline_;
};

}  // namespace ratchet
