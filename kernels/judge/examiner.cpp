#include "kernels/judge/examiner.h"

#include <utility>

#include "kernels/judge/device_trials.h"

namespace ratchet {
namespace {

/// The examiner that uses memory files.
class FileExaminer : public Examiner {
 public:
  FileExaminer(const Contract& contract, std::unique_ptr<Judge> judge, CandidateProcess* candidate)
      : contract_(contract), judge_(std::move(judge)), candidate_(candidate) {}

  Status admit(CandidateProcess& candidate, const CandidateProcess::Code& code,
               const CallContext& call) override {
    candidate_ = &candidate;
    return candidate.load(code, call);
  }

  Result<std::optional<Examination>> examine(const Question& question,
                                             const CallContext& call) override {
    auto trial = judge_->make_trial(question.dims, question.distribution, question.seed, call);
    if (!trial) return trial.error();
    if (trial->not_finite > 0 && need_finite_answer(question.distribution)) {
      auto normal = judge_->finite_when_normal(question.dims, call);
      if (!normal) return normal.error();
      if (*normal) return std::optional<Examination>(Examination{{}, {}, true});
    }
    auto returned = candidate_->execute(trial->plan, trial->sent, shift_of(question.seed), call);
    if (!returned) return returned.error();
    if (candidate_->fault()) return std::optional<Examination>{};
    auto verdict = judge_->compare(*trial, **returned, call);
    if (!verdict) return verdict.error();
    Examination examination{*std::move(verdict), std::nullopt, false};
    if (question.strain) {
      auto strain =
          strain_of([&](double factor) { return judge_->within(*trial, **returned, call, factor); },
                    examination.verdict.passed);
      if (!strain) return strain.error();
      examination.strain = *strain;
    }
    if (!question.twice) return std::optional<Examination>(std::move(examination));
    auto again = repeat(*trial, **returned, call);
    if (!again) return again.error();
    examination.again = *std::move(again);
    return std::optional<Examination>(std::move(examination));
  }

  Status let_go(CandidateProcess& /*candidate*/, const CallContext& /*call*/) override {
    return {};  // every call gets a memory file of its own
  }

  Result<std::optional<SliceFinding>> examine_slices(const Question& question, std::size_t most,
                                                     const CallContext& call) override {
    const auto trial =
        judge_->make_trial(question.dims, question.distribution, question.seed, call);
    if (!trial) return trial.error();
    auto slices = slices_of(contract_, trial->plan.layout, question.seed);
    if (slices.size() > most) slices.resize(most);
    for (const auto& slice : slices) {
      auto finding = examine_slice(*trial, slice, question.seed, call);
      if (!finding || *finding || candidate_->fault()) return finding;
    }
    return std::optional<SliceFinding>{};
  }

  [[nodiscard]] wire::Tolerance tolerance_of(DType type) const override {
    return judge_->tolerance_of(type);
  }

  Status settle_reference(const ReferenceParts& parts, Endings& endings,
                          const CallContext& call) override {
    return judge_->renew_reference(parts, endings, call);
  }

  IdleJudge release() override { return {{}, std::move(judge_)}; }

 private:
  Result<std::optional<SliceFinding>> examine_slice(const Trial& trial, const wire::Changed& whole,
                                                    std::string_view seed,
                                                    const CallContext& call) {
    for (const auto& slice : raised(whole)) {
      auto changed = judge_->changed(trial, slice, call);
      if (!changed) return changed.error();
      if (changed->not_finite > trial.not_finite) continue;
      auto moved = judge_->moved(trial, *changed, call);
      if (!moved) return moved.error();
      if (!*moved) continue;
      auto returned = candidate_->execute(changed->plan, changed->sent, shift_of(seed), call);
      if (!returned) return returned.error();
      if (candidate_->fault()) break;
      // Half of what the reference moved by: neither side of it is a matter of rounding.
      const double factor = contract_.judge->moved / 2;
      auto verdict = judge_->compare(*changed, **returned, call, factor);
      if (!verdict) return verdict.error();
      if (verdict->passed) break;
      auto stayed = judge_->stayed(trial, *changed, **returned, call, factor);
      if (!stayed) return stayed.error();
      return std::optional<SliceFinding>(SliceFinding{slice, *std::move(verdict), *stayed});
    }
    return std::optional<SliceFinding>{};
  }

  /// Empty after a fault: the verdict of the first call is kept.
  Result<std::optional<Examination::Again>> repeat(const Trial& trial, const MemoryFile& first,
                                                   const CallContext& call) {
    auto second = candidate_->execute(trial.plan, trial.sent, shift_of("again"), call);
    if (!second) return second.error();
    if (candidate_->fault()) return std::optional<Examination::Again>{};
    auto same = same_outputs(trial.plan.layout, first, **second);
    if (!same) return same.error();
    Examination::Again again{*same, std::nullopt};
    if (*same) return std::optional(std::move(again));
    auto verdict = judge_->compare(trial, **second, call);
    if (!verdict) return verdict.error();
    again.verdict = *std::move(verdict);
    return std::optional(std::move(again));
  }

  Contract contract_;
  std::unique_ptr<Judge> judge_;
  CandidateProcess* candidate_;
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
  return std::unique_ptr<Examiner>(
      std::make_unique<FileExaminer>(contract, *std::move(judge), &candidate));
}

std::unique_ptr<Examiner> examiner_with(const Contract& contract, IdleJudge judge) {
  if (judge.on_device) return device_examiner_with(contract, std::move(judge.on_device));
  return std::make_unique<FileExaminer>(contract, std::move(judge.by_files), nullptr);
}

}  // namespace ratchet
