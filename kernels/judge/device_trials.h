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

#include "kernels/judge/reference.h"
#include "kernels/process/candidate_process.h"
#include "kernels/process/worker_process.h"
#include "server/core/call_context.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Whether the contract's reference can read its inputs where a judge on the GPU puts them: CUDA,
/// or torch that is called with the kernel's own arguments.
[[nodiscard]] bool answers_on_device(const Contract& contract);

/// Trials that never leave the GPU: a judge makes them in memory that it shares with the reference
/// and, apart from that, with each candidate; and compares copies of what those left.
///
/// Thread rule and errors: as WorkerProcess; a failing reference is `invalid_argument`.
class DeviceTrials {
 public:
  /// Memory for so many candidates, each for so many of the contract's largest arenas.
  struct Room {
    int candidates = 1;
    int places = 1;
  };
  /// Starts judge and reference at once, and waits for neither.
  /// Errors: `unavailable` when the devices, the contract or the machine do not allow it.
  static Result<std::unique_ptr<DeviceTrials>> launch(const ReferenceParts& parts,
                                                      const Contract& contract, const Room& room,
                                                      const CallContext& call);
  /// Loads both and has them share their memory. Before anything below.
  Status open(const CallContext& call);

  /// Has a process take the memory of that candidate in, once.
  Status share_with(CandidateProcess& process, int candidate, const CallContext& call);
  /// Bytes into a candidate's memory at which this of its places begins.
  [[nodiscard]] std::int64_t place_at(int index) const;

  /// What a trial is made of.
  struct Content {
    Dims dims;
    std::string distribution;
    std::string seed;
    std::optional<wire::Changed> changed;
    std::optional<wire::Uses> uses;
  };
  /// Lays it out for the reference and, where `place` says, for a candidate.
  Status generate(const CallPlan& plan, const Content& content,
                  const std::optional<wire::Place>& place, const CallContext& call);
  /// The contents of the last trial once more, for the candidate only.
  Status generate_again(const wire::Place& place, const CallContext& call);
  /// Has the reference answer.
  Status answer(const CallContext& call);
  /// What the reference made of the trial.
  Result<wire::Answered> describe(const CallContext& call);
  /// The verdict on what a control would leave; empty when it has nothing to offer.
  Result<std::optional<wire::Comparison>> forge(wire::Control control, const CallContext& call);
  /// What a candidate left there, held against the answer: `comparison`, and after `generate_again`
  /// `same_bits`.
  Result<wire::Reply> compare(const wire::Place& place, const CallContext& call);

 private:
  using Answer = std::pair<wire::Reply, std::vector<Fd>>;

  DeviceTrials(Contract contract, WorkerProcess judge, CandidateProcess reference,
               const wire::Share& share)
      : contract_(std::move(contract)),
        judge_(std::move(judge)),
        reference_(std::move(reference)),
        share_(share) {}

  /// Asks the judge; its failure is ours.
  Result<Answer> ask(const wire::Request& request, std::span<const int> descriptors,
                     const CallContext& call);

  Contract contract_;
  WorkerProcess judge_;
  CandidateProcess reference_;
  wire::Share share_;
  std::string judge_library_;
  CandidateProcess::Code reference_code_;
  std::chrono::milliseconds deadline_{};
  std::vector<Fd> candidates_memories_;
  [[nodiscard]] wire::Compare comparison() const;

  CallPlan plan_;
  Dims dims_;
  wire::GenerateOnDevice generated_;
};

}  // namespace ratchet
