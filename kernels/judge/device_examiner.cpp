// The examiner with a judge on the candidate's GPU.

#include <utility>

#include "kernels/contract/tolerance.h"
#include "kernels/judge/device_trials.h"
#include "kernels/judge/examiner.h"

namespace ratchet {
namespace {

class DeviceExaminer : public Examiner {
 public:
  DeviceExaminer(const Contract& contract, std::unique_ptr<DeviceTrials> trials,
                 CandidateProcess& candidate)
      : contract_(contract), trials_(std::move(trials)), candidate_(candidate) {}

  Result<std::optional<Examination>> examine(const Question& question,
                                             const CallContext& call) override {
    const auto plan = call_plan_of(contract_, question.dims);
    if (!plan) return plan.error();
    const wire::Place place{0, shift_of(question.seed)};
    if (auto generated = trials_->generate(*plan,
                                           {.dims = question.dims,
                                            .distribution = question.distribution,
                                            .seed = std::string(question.seed)},
                                           place, call);
        !generated)
      return generated.error();
    if (auto done = trials_->answer(call); !done) return done.error();
    auto first = compared(*plan, place, call);
    if (!first) return first.error();
    if (!*first) return std::optional<Examination>{};
    Examination examination{*std::move((*first)->comparison), std::nullopt};
    if (!question.twice) return std::optional<Examination>(std::move(examination));
    const wire::Place elsewhere{0, shift_of("again")};
    if (auto generated = trials_->generate_again(elsewhere, call); !generated)
      return generated.error();
    auto second = compared(*plan, elsewhere, call);
    if (!second) return second.error();
    if (*second)
      examination.again = {(*second)->same_bits.value_or(false), std::move((*second)->comparison)};
    return std::optional<Examination>(std::move(examination));
  }

  [[nodiscard]] wire::Tolerance tolerance_of(DType type) const override {
    return tolerance_for(type, contract_.atol, contract_.rtol);
  }

 private:
  /// The candidate's call and the judge's reply; empty after a fault.
  Result<std::optional<wire::Reply>> compared(const CallPlan& plan, const wire::Place& place,
                                              const CallContext& call) {
    if (auto done = candidate_.run_attached(plan, place.at, call); !done) return done.error();
    if (candidate_.fault()) return std::optional<wire::Reply>{};
    auto reply = trials_->compare(place, call);
    if (!reply) return reply.error();
    return std::optional<wire::Reply>(*std::move(reply));
  }

  Contract contract_;
  std::unique_ptr<DeviceTrials> trials_;
  CandidateProcess& candidate_;
};

}  // namespace

Result<std::unique_ptr<Examiner>> open_device_examiner(const ReferenceParts& parts,
                                                       const Contract& contract,
                                                       CandidateProcess& candidate,
                                                       const CandidateProcess::Code& code,
                                                       const CallContext& call) {
  auto trials = DeviceTrials::launch(parts, contract, {}, call);
  // The candidate is loaded even if the rest fails.
  if (auto loaded = candidate.load(code, call); !loaded) return loaded.error();
  if (!trials) return trials.error();
  if (auto opened = (*trials)->open(call); !opened) return opened.error();
  if (auto admitted = (*trials)->share_with(candidate, 0, call); !admitted) return admitted.error();
  return std::unique_ptr<Examiner>(
      std::make_unique<DeviceExaminer>(contract, *std::move(trials), candidate));
}

}  // namespace ratchet
