#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "kernels/candidate_process.h"
#include "kernels/judge.h"

namespace ratchet {

/// A judge on a GPU and the contract's reference beside it: trials are made, answered and judged in
/// device memory that the judge shares with the reference, and with one other process apart from
/// it. Nothing crosses the bus.
///
/// Thread rule and errors: as Judge; `unavailable` when the devices, the contract or the machine do
/// not allow it.
class DeviceBench {
 public:
  /// Whether a contract's reference can read its inputs where a judge on the GPU puts them: CUDA,
  /// or torch that is called with the kernel's own arguments.
  [[nodiscard]] static bool serves(const Contract& contract);

  /// Starts both processes; `load` waits for them, builds or finds what they run, and loads it.
  static Result<std::unique_ptr<DeviceBench>> launch(const ReferenceParts& parts,
                                                     const Contract& contract);
  Status load(const ReferenceParts& parts, const CallContext& call);

  /// The memory for the process that is judged, and how many bytes of an arena it holds.
  Result<Fd> share(const CallContext& call);
  [[nodiscard]] std::int64_t arena_bytes() const { return arena_bytes_; }

  [[nodiscard]] Result<CallPlan> plan_of(const Dims& dims) const;
  Status pose(const job::Pose& pose, const CallContext& call);
  /// Has the reference answer the trial that is posed.
  Status answer(const CallPlan& plan, const CallContext& call);
  Result<job::Answered> look(const CallContext& call);
  /// Of what the other process left in its memory; `comparison` is set.
  Result<job::Reply> weigh(const Dims& dims, const CallPlan& plan, const CallContext& call);
  Result<std::optional<job::Comparison>> feign(job::Control control, const Dims& dims,
                                               const CallPlan& plan, const CallContext& call);

  [[nodiscard]] job::Tolerance tolerance_of(DType type) const;

 private:
  using Answer = std::pair<job::Reply, std::vector<Fd>>;

  DeviceBench(const Contract& contract, WorkerProcess judge, CandidateProcess reference,
              std::chrono::milliseconds deadline, std::int64_t arena_bytes)
      : contract_(contract),
        judge_(std::move(judge)),
        reference_(std::move(reference)),
        deadline_(deadline),
        arena_bytes_(arena_bytes) {}

  /// Asks the judge; its failure is ours.
  Result<Answer> ask(const job::Request& request, std::span<const int> descriptors,
                     const CallContext& call);
  [[nodiscard]] job::Compare comparison(const Dims& dims, const CallPlan& plan) const;

  Contract contract_;
  WorkerProcess judge_;
  CandidateProcess reference_;
  std::chrono::milliseconds deadline_;
  std::int64_t arena_bytes_;
};

}  // namespace ratchet
