// The examiner with a judge on the candidate's GPU.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/contract/tolerance.h"
#include "kernels/judge/device_trials.h"
#include "kernels/judge/examiner.h"

namespace ratchet {
namespace {

class DeviceExaminer : public Examiner {
 public:
  DeviceExaminer(const Contract& contract, std::unique_ptr<DeviceTrials> trials,
                 CandidateProcess* candidate)
      : contract_(contract), trials_(std::move(trials)), candidate_(candidate) {}

  Status admit(CandidateProcess& candidate, const CandidateProcess::Code& code,
               const CallContext& call) override {
    candidate_ = &candidate;
    // While the candidate's process begins.
    if (auto renewed = trials_->renew(call); !renewed) return renewed;
    if (auto loaded = candidate.load(code, call); !loaded) return loaded;
    return trials_->share_with(candidate, 0, call);
  }

  [[nodiscard]] std::optional<std::int64_t> free_bytes() const override {
    return trials_->free_bytes();
  }

  Status let_go(CandidateProcess& candidate, const CallContext& call) override {
    return candidate.detach(call);
  }

  Result<std::optional<Examination>> examine(const Question& question,
                                             const CallContext& call) override {
    const auto plan = call_plan_of(contract_, question.dims);
    if (!plan) return plan.error();
    auto normal = trials_->finite_when_normal(question.dims, call);
    if (!normal) return normal.error();
    const wire::Place place{0, shift_of(question.seed)};
    if (auto generated = trials_->generate(*plan,
                                           {.dims = question.dims,
                                            .distribution = question.distribution,
                                            .seed = std::string(question.seed)},
                                           place, call);
        !generated)
      return generated.error();
    if (auto done = trials_->answer(call); !done) return done.error();
    if (*normal && need_finite_answer(question.distribution)) {
      auto answered = trials_->describe(call);
      if (!answered) return answered.error();
      if (answered->not_finite > 0) return std::optional<Examination>(Examination{{}, {}, true});
    }
    auto first = compared(*plan, place, 1, call);
    if (!first) return first.error();
    if (!*first) return std::optional<Examination>{};
    Examination examination{*std::move((*first)->comparison), std::nullopt, false};
    if (question.strain) {
      auto strain = strain_of([&](double factor) { return trials_->within(factor, call); },
                              examination.verdict.passed);
      if (!strain) return strain.error();
      examination.strain = *strain;
    }
    if (!question.twice) return std::optional<Examination>(std::move(examination));
    const wire::Place elsewhere{0, shift_of("again")};
    if (auto generated = trials_->generate_again(elsewhere, call); !generated)
      return generated.error();
    auto second = compared(*plan, elsewhere, 1, call);
    if (!second) return second.error();
    if (*second)
      examination.again = {(*second)->same_bits.value_or(false), std::move((*second)->comparison)};
    return std::optional<Examination>(std::move(examination));
  }

  Result<std::optional<SliceFinding>> examine_slices(const Question& question, std::size_t most,
                                                     const CallContext& call) override {
    const auto plan = call_plan_of(contract_, question.dims);
    if (!plan) return plan.error();
    if (auto known = trials_->finite_when_normal(question.dims, call); !known) return known.error();
    DeviceTrials::Content content{
        question.dims, question.distribution, std::string(question.seed), {}, {}};
    if (auto made = trials_->generate(*plan, content, {}, call); !made) return made.error();
    if (auto done = trials_->answer(call); !done) return done.error();
    // Keeps this answer as the one that slices are compared with.
    auto before = trials_->describe(call);
    if (!before) return before.error();
    auto slices = slices_of(contract_, plan->layout, question.seed);
    if (slices.size() > most) slices.resize(most);
    for (const auto& slice : slices) {
      auto finding = examine_slice(*plan, content, slice, before->not_finite, call);
      if (!finding || *finding || candidate_->fault()) return finding;
    }
    return std::optional<SliceFinding>{};
  }

  [[nodiscard]] wire::Tolerance tolerance_of(DType type) const override {
    return tolerance_for(type, contract_.atol, contract_.rtol);
  }

  Status settle_reference(const ReferenceParts& parts, Endings& endings,
                          const CallContext& call) override {
    return trials_->settle_reference(parts, endings, call);
  }

  IdleJudge release() override { return {std::move(trials_), {}}; }

 private:
  Result<std::optional<SliceFinding>> examine_slice(const CallPlan& plan,
                                                    DeviceTrials::Content content,
                                                    const wire::Changed& whole,
                                                    std::int64_t not_finite,
                                                    const CallContext& call) {
    const wire::Place place{0, shift_of(content.seed)};
    for (const auto& slice : raised(whole)) {
      content.changed = slice;
      if (auto made = trials_->generate(plan, content, place, call); !made) return made.error();
      if (auto done = trials_->answer(call); !done) return done.error();
      auto answered = trials_->describe(call);
      if (!answered) return answered.error();
      if (answered->not_finite > not_finite) continue;
      auto moved = trials_->moved(call);
      if (!moved) return moved.error();
      if (!*moved) continue;
      // Half of what the reference moved by: neither side of it is a matter of rounding.
      auto reply = compared(plan, place, contract_.judge->moved / 2, call);
      if (!reply) return reply.error();
      if (!*reply || (*reply)->comparison->passed) break;
      const auto& states = (*reply)->comparison->states;
      const bool finite = std::ranges::all_of(
          states, [](const wire::OutputState& state) { return state.unexpected == 0; });
      return std::optional<SliceFinding>(
          SliceFinding{slice, *std::move((*reply)->comparison), finite});
    }
    return std::optional<SliceFinding>{};
  }

  /// The candidate's call and the judge's reply; empty after a fault.
  Result<std::optional<wire::Reply>> compared(const CallPlan& plan, const wire::Place& place,
                                              double factor, const CallContext& call) {
    if (auto done = candidate_->run_attached(plan, place.at, call); !done) return done.error();
    if (candidate_->fault()) return std::optional<wire::Reply>{};
    auto reply = trials_->compare(place, call, factor);
    if (!reply) return reply.error();
    return std::optional<wire::Reply>(*std::move(reply));
  }

  Contract contract_;
  std::unique_ptr<DeviceTrials> trials_;
  CandidateProcess* candidate_;
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
      std::make_unique<DeviceExaminer>(contract, *std::move(trials), &candidate));
}

std::unique_ptr<Examiner> device_examiner_with(const Contract& contract,
                                               std::unique_ptr<DeviceTrials> trials) {
  return std::make_unique<DeviceExaminer>(contract, std::move(trials), nullptr);
}

}  // namespace ratchet
