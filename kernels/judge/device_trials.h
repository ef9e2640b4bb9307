#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/judge/reference.h"
#include "kernels/judge/sums.h"
#include "kernels/process/candidate_process.h"
#include "kernels/process/endings.h"
#include "kernels/process/worker_process.h"
#include "server/core/call_context.h"
#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Whether the contract's reference can read its inputs in the device memory of a judge: a CUDA
/// reference, or a torch reference called with the kernel's own arguments. Inputs that a function
/// makes must be made by that reference's file.
[[nodiscard]] bool answers_on_device(const Contract& contract);

/// Builds the judge's library for devices of this architecture, so that a launch finds it made.
/// Needs no turn on the device. What fails here fails again there, and says so.
void warm_device_judge(const ReferenceParts& parts, const std::string& arch,
                       const CallContext& call);

/// Trials that never leave the GPU: a judge generates them in memory shared with the reference and,
/// separately, with each candidate, and compares copies of the results.
///
/// Thread rule and errors: as WorkerProcess; a failing reference is `invalid_argument`.
class DeviceTrials {
 public:
  /// Number of candidates, and of the contract's largest arenas for each.
  struct Room {
    int candidates = 1;
    int places = 1;
  };
  /// Starts judge and reference at once, without waiting for either. Errors: `unavailable` if the
  /// devices, the contract or the machine do not allow it.
  static Result<std::unique_ptr<DeviceTrials>> launch(const ReferenceParts& parts,
                                                      const Contract& contract, const Room& room,
                                                      const CallContext& call);
  /// The processes that `launch` starts for this contract.
  static JudgeSpecs specs(const ReferenceParts& parts, const Contract& contract);
  /// Loads both and shares the memory. Required before the methods below.
  Status open(const CallContext& call);
  /// New, blank memory for candidates, once the last have ended, are about to or were detached.
  Status renew(const CallContext& call);
  /// The same with other room.
  Status renew(const Room& room, const CallContext& call);
  /// After questions that may have broken the reference without a word: unless it still answers a
  /// trial as before, the next `renew` has a new process. What was learned from the last one stays.
  Status settle_reference(const ReferenceParts& parts, Endings& endings, const CallContext& call);
  /// How often memory has been dealt; what was shared before the last time is not used any more.
  [[nodiscard]] int dealt() const { return dealt_; }
  [[nodiscard]] std::int64_t free_bytes() const { return free_bytes_; }  ///< of the device, then

  /// Attaches the memory of that candidate to a process, once after each deal.
  Status share_with(CandidateProcess& process, int candidate, const CallContext& call);
  /// Offsets in a candidate's memory of `count` arenas of this size, or as many as fit, spread over
  /// all of it.
  [[nodiscard]] std::vector<std::int64_t> places(std::int64_t bytes, int count) const;

  /// The content of a trial.
  struct Content {
    Dims dims;
    std::string distribution;
    std::string seed;
    std::optional<wire::Changed> changed;
    std::optional<wire::Uses> uses;
  };
  /// Generates it for the reference and, at `place`, for a candidate. Inputs that the reference's
  /// own function makes are made in the reference's process.
  Status generate(const CallPlan& plan, const Content& content,
                  const std::optional<wire::Place>& place, const CallContext& call);
  /// The content of the last trial once more, for the candidate only.
  Status generate_again(const wire::Place& place, const CallContext& call);
  /// Whether such a function makes any input, and whether it makes the same ones again from the
  /// seed of the last content, which must be unchanged and described.
  [[nodiscard]] bool makes_inputs() const { return !given_.empty(); }
  Result<bool> repeats_inputs(const CallContext& call);
  /// Runs the reference.
  Status answer(const CallContext& call);
  /// Whether the reference's answers to normal inputs of this size are finite. On first use it
  /// generates trials of its own, for no candidate, and notes what `compare` needs to know.
  Result<bool> finite_when_normal(const Dims& dims, const CallContext& call);
  /// Facts about the reference's answer.
  Result<wire::Answered> describe(const CallContext& call);
  /// The verdict on what a control would leave; empty if the control does not apply.
  Result<std::optional<wire::Comparison>> forge(wire::Control control, const CallContext& call);
  /// Whether the reference's answer is far from the last one to an unchanged trial that was
  /// described, in any element, by the contract's JudgeRules::moved.
  Result<bool> moved(const CallContext& call);
  /// Judges what a candidate left at that place: `comparison`, and after `generate_again` also
  /// `same_bits`. `factor` loosens the tolerances. Where the rules ask for it, the reference is
  /// asked again, on other memory; the trial stays the same.
  Result<wire::Reply> compare(const wire::Place& place, const CallContext& call, double factor = 1);
  /// Whether what was compared last is within `factor` times the allowed errors, with no shadow.
  Result<bool> within(double factor, const CallContext& call);

 private:
  using Answer = std::pair<wire::Reply, std::vector<Fd>>;

  DeviceTrials(Contract contract, WorkerProcess judge, CandidateProcess reference,
               const wire::Share& share)
      : contract_(std::move(contract)),
        judge_(std::move(judge)),
        reference_(std::move(reference)),
        share_(share) {}

  Status load_reference(const CallContext& call);
  /// Error `unavailable` where the reference's process cannot make inputs: whoever judges elsewhere
  /// then says why.
  Status try_inputs(const CallContext& call);
  /// The second half of `generate` where a function makes inputs: whether they are those of the
  /// last unchanged content described.
  Result<bool> make_inputs(bool anew, const CallContext& call);
  /// Asks the judge; a failure is ours.
  Result<Answer> ask(const wire::Request& request, std::span<const int> descriptors,
                     const CallContext& call);

  Contract contract_;
  WorkerProcess judge_;
  CandidateProcess reference_;
  wire::Share share_;
  std::vector<std::string> given_;  ///< inputs that the reference's function makes
  std::string judge_library_;
  CandidateProcess::Code reference_code_;
  bool loaded_ = false, attached_ = false;  ///< by the reference's process
  std::chrono::milliseconds deadline_{};
  std::vector<Fd> candidates_memories_;  ///< of one candidate after the other, equally many
  int dealt_ = 0;
  std::int64_t free_bytes_ = 0;
  /// What is at hand beside the reference's answer.
  struct Beside {
    bool shadow = false;
    bool terms = false;
  };
  [[nodiscard]] wire::Compare comparison(double factor, Beside beside) const;
  /// Once more, what was compared last.
  Result<wire::Comparison> kept(wire::Compare plan, const CallContext& call);
  /// Turns down a verdict whose elements that are off are farther off than the contract lets them.
  Status hold_rest(wire::Comparison& verdict, double factor, Beside beside,
                   const CallContext& call);
  /// Goes on where the plain rule has decided, by what shadow and terms allow and ask for.
  Status weigh(wire::Comparison& verdict, double factor, bool by_terms, const CallContext& call);
  /// The verdict on what a control would leave by this plan alone.
  Result<std::optional<wire::Comparison>> forged(wire::Control control, const wire::Compare& plan,
                                                 const CallContext& call);
  /// Whether the reference's answer in float64 to the trial is in the memory for it.
  Result<bool> shadow_of(const CallContext& call);
  Result<bool> make_shadow(const CallContext& call);
  /// Whether its answer to the magnitudes of the trial's inputs is there.
  Result<bool> terms_of(const CallContext& call);
  Result<bool> make_terms(const CallContext& call);
  /// As Judge's of the same name, on trials of its own. Empty: there is no room to find out.
  Result<std::optional<bool>> linear(const PartsOfSums& parts, const Dims& dims,
                                     const CallContext& call);
  Result<std::optional<bool>> linear_in(const std::string& input, const Dims& dims,
                                        const CallContext& call);
  Result<bool> elementwise(Content content, const CallContext& call);
  /// Whether the first trial of the contract's first case has the answer that it had.
  Result<bool> answers_as_before(const CallContext& call);
  /// `generate` for no candidate, and the answer.
  Status try_content(const Content& content, const CallContext& call);
  /// The answer's facts for a trial that no candidate sees.
  Result<wire::Answered> answered_trial(const Content& content, const CallContext& call);
  Result<wire::Reply> step(const wire::TermsOnDevice& plan, const CallContext& call);

  struct CaseFacts {
    std::string seed;       ///< of the first trial
    wire::Answered answer;  ///< to it
    bool elementwise = false;
    std::optional<bool> linear;                      ///< found when first needed
    std::map<std::string, std::vector<double>> rms;  ///< by distribution
  };
  std::map<Dims, CaseFacts> facts_;

  /// The present trial, and what was found about it.
  struct Now {
    CallPlan plan;
    Dims dims;
    wire::GenerateOnDevice generated;
    std::optional<bool> shadow, terms;
  };
  Now now_;
  bool widens_ = true;     ///< until the reference fails in float64, or takes long
  std::string no_shadow_;  ///< why there is none, if it is worth a note
};

}  // namespace ratchet
