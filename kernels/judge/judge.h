#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/judge/python_reference.h"
#include "kernels/judge/reference.h"
#include "kernels/judge/trial.h"
#include "kernels/judge/trial_plan.h"
#include "kernels/process/candidate_process.h"
#include "kernels/process/endings.h"
#include "kernels/process/python_inputs.h"
#include "kernels/process/worker_process.h"
#include "kernels/protocol/messages.h"
#include "server/core/call_context.h"
#include "server/core/memory_file.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

/// The seed of one trial: HMAC-SHA-256 of its place under the run's secret, hexadecimal. Without
/// the secret, a trial's inputs cannot be predicted.
[[nodiscard]] std::string trial_seed(std::string_view run_secret, std::string_view candidate_digest,
                                     std::string_view place);

/// A random seed, hexadecimal.
[[nodiscard]] std::string fresh_seed();
/// A random number, for orders and places that must be unpredictable.
[[nodiscard]] std::uint64_t fresh_number();

/// The arena shift of one call, from its seed: a multiple of the buffer alignment below 32 KiB, so
/// that addresses do not repeat predictably.
[[nodiscard]] std::int64_t shift_of(std::string_view seed);

/// The trusted side: generates inputs, runs the reference, compares raw bytes, decides. Runs a
/// worker with our own code and the reference's process; candidates get only arenas.
///
/// Thread rule and errors: as WorkerProcess; a failing reference is `invalid_argument`.
class Judge {
 public:
  static Result<std::unique_ptr<Judge>> open(const ReferenceParts& parts, const Contract& contract,
                                             const CallContext& call);
  /// The processes that `open` starts for this contract.
  static JudgeSpecs specs(const ReferenceParts& parts, const Contract& contract);
  /// A new process for the reference. What was learned from the last one stays.
  Status renew_reference(const ReferenceParts& parts, Endings& endings, const CallContext& call);

  /// Inputs and answer for one case.
  Result<Trial> make_trial(const Dims& dims, const std::string& distribution, std::string_view seed,
                           const CallContext& call);
  /// The same trial after `uses` timed calls that changed its inputs by `seed`, with the answer to
  /// the changed inputs; see wire::Refresh.
  Result<Trial> refreshed(const Trial& trial, const std::string& seed, int uses,
                          const CallContext& call);
  /// The same trial with the contents of `tensor` drawn from a different seed.
  Result<Trial> with_other(const Trial& trial, const std::string& tensor, std::string_view seed,
                           const CallContext& call);
  /// The same trial with a slice of one input changed.
  Result<Trial> changed(const Trial& trial, const wire::Changed& changed, const CallContext& call);

  /// Whether the reference's answer to `changed` is far from that to `trial` in any element, by the
  /// contract's JudgeRules::moved.
  Result<bool> moved(const Trial& trial, const Trial& changed, const CallContext& call);

  /// Whether what came back from a call on `changed.sent` is the answer to `trial`.
  Result<bool> stayed(const Trial& trial, const Trial& changed, const MemoryFile& returned,
                      const CallContext& call, double factor);

  /// Whether the case's normal answers are finite, so that other distributions must give finite
  /// ones too. Asks the reference once per case.
  Result<bool> finite_when_normal(const Dims& dims, const CallContext& call);

  /// What a kernel would return if it only applied the control; empty if the control does not
  /// apply. `other`: another trial of the same size.
  Result<std::optional<MemoryFile>> forge(const Trial& trial, const Trial& other,
                                          wire::Control control, const CallContext& call);

  /// Judges an arena that came back from a call on `trial.sent`. `factor` loosens the tolerances.
  Result<wire::Comparison> compare(const Trial& trial, const MemoryFile& returned,
                                   const CallContext& call, double factor = 1);

  /// Whether what came back is within `factor` times the allowed errors, with no shadow. True where
  /// the reference checks properties, which knows no errors.
  Result<bool> within(const Trial& trial, const MemoryFile& returned, const CallContext& call,
                      double factor);

  /// By precedence: the caller's tolerance, the reference's own, the dtype's default.
  [[nodiscard]] wire::Tolerance tolerance_of(DType type) const;

 private:
  [[nodiscard]] std::optional<double> atol() const;
  [[nodiscard]] std::optional<double> rtol() const;
  /// Asks the worker; a failure is ours.
  Result<wire::Reply> ask(const wire::Request& request, std::span<const int> descriptors,
                          const CallContext& call);
  /// Fills a memory file with inputs and poison.
  Result<MemoryFile> generate(const Dims& dims, wire::Generate plan, const CallContext& call);
  /// Seals the arena and has the reference answer it.
  Result<Trial> answered(const Dims& dims, const std::string& distribution, CallPlan plan,
                         MemoryFile sent, const CallContext& call);

  /// What the judge learned about one case from trials of its own.
  struct CaseFacts {
    bool finite = true;  ///< the answers to normal inputs
    bool elementwise = false;
    std::optional<bool> linear;  ///< in each floating-point input; found when first needed
    std::map<std::string, std::vector<double>> rms;  ///< by distribution, over several trials
  };
  /// Asks the reference on first use.
  Result<CaseFacts*> facts_of(const Dims& dims, const CallContext& call);
  /// Whether one element of the largest input moves one element of the answer.
  Result<bool> elementwise(const Trial& trial, const CallContext& call);
  /// Whether the outputs are sums of products with each floating-point input: the answer to the sum
  /// of two inputs is the sum of both answers.
  Result<bool> linear(const Trial& trial, const CallContext& call);
  /// See wire::Combine.
  Result<MemoryFile> combined(const MemoryFile& first, const MemoryFile& second,
                              const wire::Combine& plan, const CallContext& call);
  /// The reference's answer to the magnitudes of the inputs, kept for the next question about the
  /// same trial; null where the outputs are not linear, or it has none.
  Result<const MemoryFile*> terms_of(const Trial& trial, const CallContext& call);
  Status describe(Trial& trial, const CallContext& call);
  /// What is at hand beside the reference's answer.
  struct Beside {
    bool shadow = false;
    bool terms = false;
  };
  /// How to compare with the trial's answer and what is beside it.
  Result<wire::Compare> plan_of(const Trial& trial, Beside beside, double factor,
                                const CallContext& call);
  /// The reference's answer in float64, and its layout.
  struct Shadow {
    wire::ArenaLayout layout;
    MemoryFile answer;
  };
  Result<std::optional<Shadow>> make_shadow(const Trial& trial, const CallContext& call);
  /// Kept for the next question about the same trial, as controls ask several; null: it has none.
  Result<const Shadow*> shadow_of(const Trial& trial, const CallContext& call);
  Result<wire::Comparison> compared(const Trial& trial, const MemoryFile& returned,
                                    const Shadow* shadow, const MemoryFile* terms, double factor,
                                    const CallContext& call);
  /// `compare` without what terms earn.
  Result<wire::Comparison> compare_strictly(const Trial& trial, const MemoryFile& returned,
                                            const CallContext& call, double factor);
  /// Where the reference checks properties: finite, written, guards, inputs, and what it says.
  Result<wire::Comparison> checked(const Trial& trial, const MemoryFile& returned,
                                   const CallContext& call);

  Judge(Contract contract, WorkerProcess worker, std::unique_ptr<Reference> reference,
        std::optional<PythonInputs> inputs, std::optional<PropertyCheck> check,
        std::chrono::milliseconds deadline)
      : contract_(std::move(contract)),
        worker_(std::move(worker)),
        reference_(std::move(reference)),
        inputs_(std::move(inputs)),
        check_(std::move(check)),
        deadline_(deadline) {}

  Contract contract_;
  WorkerProcess worker_;
  std::unique_ptr<Reference> reference_;
  std::optional<PythonInputs> inputs_;  // if a user's function makes them
  std::optional<PropertyCheck> check_;
  std::chrono::milliseconds deadline_;
  std::map<Dims, CaseFacts> facts_;
  int trials_ = 0;                // made so far
  std::optional<Shadow> shadow_;  // of the trial with the number
  int shadowed_ = 0;
  std::optional<MemoryFile> terms_;  // likewise
  int termed_ = 0;
};

/// The inputs that a user's function makes.
[[nodiscard]] std::vector<std::string> given_inputs(const Contract& contract);

/// The contract's GPU; empty on the processor.
[[nodiscard]] std::optional<int> gpu_of(const Contract& contract);

/// The user's function that makes the contract's inputs, if there is one, in a process that sees
/// this GPU, or none. Errors: as PythonInputs.
[[nodiscard]] Result<std::optional<PythonInputs>> open_inputs(PythonForkServer& python,
                                                              const Contract& contract,
                                                              std::optional<int> gpu,
                                                              std::chrono::milliseconds deadline,
                                                              const CallContext& call);

/// The call of a contract's entry on one case. Errors: as `layout_of`.
[[nodiscard]] Result<CallPlan> call_plan_of(const Contract& contract, const Dims& dims);

/// Bytes of the largest arena among the contract's cases. Errors: as `layout_of`.
[[nodiscard]] Result<std::int64_t> largest_arena(const Contract& contract);

}  // namespace ratchet
