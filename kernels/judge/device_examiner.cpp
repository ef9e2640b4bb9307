// The examiner whose judge sits on the candidate's GPU.

#include <utility>

#include "kernels/contract/layout.h"
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
    auto layout = layout_of(contract_, question.dims);
    if (!layout) return layout.error();
    auto arguments = arguments_of(contract_, question.dims, *layout);
    const CallPlan plan{*std::move(layout), std::move(arguments)};
    const job::Place place{0, shift_of(question.seed)};
    if (auto posed = trials_->pose(plan,
                                   {.dims = question.dims,
                                    .distribution = question.distribution,
                                    .seed = std::string(question.seed)},
                                   place, call);
        !posed)
      return posed.error();
    if (auto done = trials_->answer(call); !done) return done.error();
    auto first = weighed(plan, place, call);
    if (!first) return first.error();
    if (!*first) return std::optional<Examination>{};
    Examination examination{*std::move((*first)->comparison), std::nullopt};
    if (!question.twice) return std::optional<Examination>(std::move(examination));
    const job::Place elsewhere{0, shift_of("again")};
    if (auto posed = trials_->pose_again(elsewhere, call); !posed) return posed.error();
    auto second = weighed(plan, elsewhere, call);
    if (!second) return second.error();
    if (*second)
      examination.again = {(*second)->same_bits.value_or(false), std::move((*second)->comparison)};
    return std::optional<Examination>(std::move(examination));
  }

  [[nodiscard]] job::Tolerance tolerance_of(DType type) const override {
    return tolerance_for(type, contract_.atol, contract_.rtol);
  }

 private:
  /// The candidate's call and what the judge says of it; empty after a fault.
  Result<std::optional<job::Reply>> weighed(const CallPlan& plan, const job::Place& place,
                                            const CallContext& call) {
    if (auto done = candidate_.run_attached(plan, place.at, call); !done) return done.error();
    if (candidate_.fault()) return std::optional<job::Reply>{};
    auto reply = trials_->weigh(place, call);
    if (!reply) return reply.error();
    return std::optional<job::Reply>(*std::move(reply));
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
  // The candidate is loaded whatever comes of the rest.
  if (auto loaded = candidate.load(code, call); !loaded) return loaded.error();
  if (!trials) return trials.error();
  if (auto opened = (*trials)->open(call); !opened) return opened.error();
  if (auto admitted = (*trials)->admit(candidate, 0, call); !admitted) return admitted.error();
  return std::unique_ptr<Examiner>(
      std::make_unique<DeviceExaminer>(contract, *std::move(trials), candidate));
}

}  // namespace ratchet
