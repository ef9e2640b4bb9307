#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/candidate_process.h"
#include "kernels/reference.h"
#include "kernels/worker_process.h"
#include "server/core/call_context.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Whether the contract's reference can read its inputs where a judge on the GPU puts them: CUDA,
/// or torch that is called with the kernel's own arguments.
[[nodiscard]] bool answers_on_device(const Contract& contract);

/// Trials that never leave the GPU: a judge makes them in memory that it shares with the reference
/// and, apart from that, with a candidate; and compares copies of what that left.
///
/// Thread rule and errors: as WorkerProcess; a failing reference is `invalid_argument`.
class DeviceTrials {
 public:
  /// Starts judge and reference at once, and waits for neither.
  /// Errors: `unavailable` when the devices, the contract or the machine do not allow it.
  static Result<std::unique_ptr<DeviceTrials>> launch(const ReferenceParts& parts,
                                                      const Contract& contract,
                                                      const CallContext& call);
  /// Loads both and has them share their memory. Before anything below.
  Status open(const CallContext& call);

  /// Has a candidate take its memory in, once.
  Status admit(CandidateProcess& candidate, const CallContext& call);

  /// Lays out new contents for the reference and, `shift` bytes into its memory, the candidate.
  Status pose(const CallPlan& plan, const Dims& dims, const std::string& distribution,
              std::string_view seed, std::int64_t shift, const CallContext& call,
              const std::optional<job::Changed>& changed = {});
  /// The contents of the last trial once more, for the candidate only.
  Status pose_again(std::int64_t shift, const CallContext& call);
  /// Has the reference answer.
  Status answer(const CallContext& call);
  /// What the reference made of the trial.
  Result<job::Answered> look(const CallContext& call);
  /// The verdict on what a control would leave; empty when it has nothing to offer.
  Result<std::optional<job::Comparison>> feign(job::Control control, const CallContext& call);
  /// What the candidate left, held against the answer: `comparison`, and after `pose_again`
  /// `same_bits`.
  Result<job::Reply> weigh(const CallContext& call);

  /// Where a candidate's arena lies in its memory now.
  [[nodiscard]] std::int64_t shift() const { return pose_.shift; }

 private:
  using Answer = std::pair<job::Reply, std::vector<Fd>>;

  DeviceTrials(Contract contract, WorkerProcess judge, CandidateProcess reference,
               std::int64_t arena_bytes)
      : contract_(std::move(contract)),
        judge_(std::move(judge)),
        reference_(std::move(reference)),
        arena_bytes_(arena_bytes) {}

  /// Asks the judge; its failure is ours.
  Result<Answer> ask(const job::Request& request, std::span<const int> descriptors,
                     const CallContext& call);

  Contract contract_;
  WorkerProcess judge_;
  CandidateProcess reference_;
  std::int64_t arena_bytes_;
  std::string judge_library_;
  CandidateProcess::Code reference_code_;
  std::chrono::milliseconds deadline_{};
  Fd candidates_memory_;
  [[nodiscard]] job::Compare comparison() const;

  CallPlan plan_;
  Dims dims_;
  job::Pose pose_;
};

}  // namespace ratchet
