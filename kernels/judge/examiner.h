#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/judge/idle_judge.h"
#include "kernels/judge/judge.h"
#include "kernels/process/candidate_process.h"

namespace ratchet {

/// The results of one call on a fresh trial, and of a second call on the same inputs at another
/// address.
struct Examination {
  wire::Comparison verdict;
  struct Again {
    bool same_bits = true;
    std::optional<wire::Comparison> verdict;  ///< when the bits differ
  };
  std::optional<Again> again;
  /// The reference's answer is not finite here although it is for normal inputs: nothing was asked
  /// of the candidate, and `verdict` is empty.
  bool dropped = false;
  /// If asked for: the answer is within this many times the allowed errors, a power of four from
  /// 1/64 to 64, which also stands for more.
  std::optional<double> strain{};
};

/// A slice of an input that the candidate's answer does not follow, or that spoils it.
struct SliceFinding {
  wire::Changed changed;
  wire::Comparison verdict;  ///< with the tolerances loosened
  bool ignored = false;      ///< the answer stayed what it was
};

/// What to examine a candidate on.
struct Question {
  Dims dims;
  std::string distribution;
  std::string_view seed;
  bool twice = false;
  bool strain = false;  ///< tell how near to the allowed errors the answer is
};

/// Examines one candidate after the other: a trial from a judge, the reference's answer, the
/// candidate's call, the judge's verdict.
///
/// There are two ways of moving the data. Sealed memory files work for every kind of device and
/// reference. If kernel and reference both run on the GPU, a judge on the same GPU shares separate
/// device memory with each of them, and nothing crosses the bus; the candidate's memory holds only
/// what a candidate may see, and is copied before it is compared.
///
/// Thread rule and errors: as Judge. Borrows the candidate until the next is admitted.
class Examiner {
 public:
  virtual ~Examiner() = default;

  /// Loads `code` into the launched candidate, which is examined from now on. The one before has
  /// ended or is being ended, and this one gets nothing that it had. Code that cannot be loaded is
  /// the candidate's fault.
  virtual Status admit(CandidateProcess& candidate, const CandidateProcess::Code& code,
                       const CallContext& call) = 0;

  /// Of the device's memory, as the candidate was admitted; empty where that does not matter.
  [[nodiscard]] virtual std::optional<std::int64_t> free_bytes() const { return std::nullopt; }
  /// Takes back what a candidate has of its trials, whose process goes on.
  virtual Status let_go(CandidateProcess& candidate, const CallContext& call) = 0;

  /// Empty after a fault of the candidate.
  virtual Result<std::optional<Examination>> examine(const Question& question,
                                                     const CallContext& call) = 0;

  /// Changes one slice of an input after another, until the reference's answer moves by far more
  /// than the allowed error, and asks the candidate again. Stops at the first finding; empty if
  /// there is none, or after a fault. `most`: of slices.
  virtual Result<std::optional<SliceFinding>> examine_slices(const Question& question,
                                                             std::size_t most,
                                                             const CallContext& call) = 0;

  /// The tolerance for an output of this type.
  [[nodiscard]] virtual wire::Tolerance tolerance_of(DType type) const = 0;

  /// Before the next candidate, after questions that may have broken the reference without a word:
  /// a new process for it, unless it is found to be as it was.
  virtual Status settle_reference(const ReferenceParts& parts, Endings& endings,
                                  const CallContext& call) = 0;

  /// Judge and reference, for another job; this examiner is of no use any more.
  virtual IdleJudge release() = 0;
};

/// `within`: whether the answer is within so many times the allowed errors; `passed`: within them.
[[nodiscard]] Result<double> strain_of(const std::function<Result<bool>(double)>& within,
                                       bool passed);

/// By judge and reference that a job of the same `judge_terms` left; it has no candidate yet.
[[nodiscard]] std::unique_ptr<Examiner> examiner_with(const Contract& contract, IdleJudge judge);

/// Starts judge and reference and loads `code` into the launched candidate, all at the same time.
/// Code that cannot be loaded is the candidate's fault.
[[nodiscard]] Result<std::unique_ptr<Examiner>> open_examiner(const ReferenceParts& parts,
                                                              const Contract& contract,
                                                              CandidateProcess& candidate,
                                                              const CandidateProcess::Code& code,
                                                              const CallContext& call);

/// The variants in device memory. Errors: `unavailable` if the devices, the contract or the machine
/// do not allow it; the candidate is loaded even then.
[[nodiscard]] Result<std::unique_ptr<Examiner>> open_device_examiner(
    const ReferenceParts& parts, const Contract& contract, CandidateProcess& candidate,
    const CandidateProcess::Code& code, const CallContext& call);
[[nodiscard]] std::unique_ptr<Examiner> device_examiner_with(const Contract& contract,
                                                             std::unique_ptr<DeviceTrials> trials);

}  // namespace ratchet
