#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/judge/judge.h"
#include "kernels/process/candidate_process.h"

namespace ratchet {

/// What came of one call on a fresh trial, and of a second one on the same inputs at another
/// address.
struct Examination {
  wire::Comparison verdict;
  struct Again {
    bool same_bits = true;
    std::optional<wire::Comparison> verdict;  ///< when the bits differ
  };
  std::optional<Again> again;
};

/// What to examine a candidate on.
struct Question {
  Dims dims;
  std::string distribution;
  std::string_view seed;
  bool twice = false;
};

/// Puts questions to one candidate: a trial from a judge, the reference's answer, the candidate's
/// call, the judge's verdict.
///
/// Two ways of moving the data. Through sealed memory files, for every kind of device and
/// reference. Or, where kernel and reference both run on the GPU, in device memory that a judge on
/// the same GPU shares with each of them apart: nothing crosses the bus. The candidate's share
/// holds only what a candidate may see, and is copied before it is compared.
///
/// Thread rule and errors: as Judge. Borrows the candidate, which outlives it.
class Examiner {
 public:
  virtual ~Examiner() = default;

  /// Empty after a fault of the candidate.
  virtual Result<std::optional<Examination>> examine(const Question& question,
                                                     const CallContext& call) = 0;

  /// What an output of this type is held against.
  [[nodiscard]] virtual wire::Tolerance tolerance_of(DType type) const = 0;
};

/// Starts judge and reference and loads `code` into the candidate, which was only launched: all
/// processes start at once. Code that cannot be loaded is the candidate's fault.
[[nodiscard]] Result<std::unique_ptr<Examiner>> open_examiner(const ReferenceParts& parts,
                                                              const Contract& contract,
                                                              CandidateProcess& candidate,
                                                              const CandidateProcess::Code& code,
                                                              const CallContext& call);

/// Where nothing crosses the bus. Errors: `unavailable` when the devices, the contract or the
/// machine do not allow it; the candidate is loaded all the same.
[[nodiscard]] Result<std::unique_ptr<Examiner>> open_device_examiner(
    const ReferenceParts& parts, const Contract& contract, CandidateProcess& candidate,
    const CandidateProcess::Code& code, const CallContext& call);

}  // namespace ratchet
