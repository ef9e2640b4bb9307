#include "kernels/judge/examiner.h"

#include <utility>

#include "kernels/judge/device_trials.h"

namespace ratchet {
namespace {

/// The examiner that uses memory files.
class FileExaminer : public Examiner {
 public:
  FileExaminer(std::unique_ptr<Judge> judge, CandidateProcess& candidate)
      : judge_(std::move(judge)), candidate_(candidate) {}

  Result<std::optional<Examination>> examine(const Question& question,
                                             const CallContext& call) override {
    auto trial = judge_->make_trial(question.dims, question.distribution, question.seed, call);
    if (!trial) return trial.error();
    auto returned = candidate_.execute(trial->plan, trial->sent, shift_of(question.seed), call);
    if (!returned) return returned.error();
    if (candidate_.fault()) return std::optional<Examination>{};
    auto verdict = judge_->compare(*trial, **returned, call);
    if (!verdict) return verdict.error();
    Examination examination{*std::move(verdict), std::nullopt};
    if (!question.twice) return std::optional<Examination>(std::move(examination));
    auto again = repeat(*trial, **returned, call);
    if (!again) return again.error();
    examination.again = *std::move(again);
    return std::optional<Examination>(std::move(examination));
  }

  [[nodiscard]] wire::Tolerance tolerance_of(DType type) const override {
    return judge_->tolerance_of(type);
  }

 private:
  /// Empty after a fault: the verdict of the first call is kept.
  Result<std::optional<Examination::Again>> repeat(const Trial& trial, const MemoryFile& first,
                                                   const CallContext& call) {
    auto second = candidate_.execute(trial.plan, trial.sent, shift_of("again"), call);
    if (!second) return second.error();
    if (candidate_.fault()) return std::optional<Examination::Again>{};
    auto same = same_outputs(trial.plan.layout, first, **second);
    if (!same) return same.error();
    Examination::Again again{*same, std::nullopt};
    if (*same) return std::optional(std::move(again));
    auto verdict = judge_->compare(trial, **second, call);
    if (!verdict) return verdict.error();
    again.verdict = *std::move(verdict);
    return std::optional(std::move(again));
  }

  std::unique_ptr<Judge> judge_;
  CandidateProcess& candidate_;
};

}  // namespace

Result<std::unique_ptr<Examiner>> open_examiner(const ReferenceParts& parts,
                                                const Contract& contract,
                                                CandidateProcess& candidate,
                                                const CandidateProcess::Code& code,
                                                const CallContext& call) {
  const bool on_device = answers_on_device(contract);
  if (on_device) {
    auto examiner = open_device_examiner(parts, contract, candidate, code, call);
    if (examiner || examiner.error().code != ErrorCode::unavailable) return examiner;
  }
  auto judge = Judge::open(parts, contract, call);
  if (!judge) return judge.error();
  if (!on_device)
    if (auto loaded = candidate.load(code, call); !loaded) return loaded.error();
  return std::unique_ptr<Examiner>(std::make_unique<FileExaminer>(*std::move(judge), candidate));
}

}  // namespace ratchet
