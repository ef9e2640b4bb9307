// What a judge on a device learns from the reference beside its answer to a trial.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/layout.h"
#include "kernels/contract/tolerance.h"
#include "kernels/judge/case_facts.h"
#include "kernels/judge/device_trials.h"
#include "kernels/judge/judge.h"
#include "kernels/judge/sums.h"
#include "kernels/judge/trial_plan.h"

namespace ratchet {

Status DeviceTrials::try_content(const Content& content, const CallContext& call) {
  auto plan = call_plan_of(contract_, content.dims);
  if (!plan) return plan.error();
  if (auto made = generate(*plan, content, {}, call); !made) return made;
  return answer(call);
}

Result<wire::Answered> DeviceTrials::answered_trial(const Content& content,
                                                    const CallContext& call) {
  if (auto done = try_content(content, call); !done) return done.error();
  return describe(call);
}

Result<bool> DeviceTrials::finite_when_normal(const Dims& dims, const CallContext& call) {
  if (!contract_.judge) return false;
  const auto known = facts_.find(dims);
  if (known != facts_.end()) return known->second.answer.not_finite == 0;
  const Content normal{dims, "normal", fresh_seed(), {}, {}};
  auto first = answered_trial(normal, call);
  if (!first) return first.error();
  CaseFacts facts{normal.seed, *first, false, {}, {{"normal", first->rms}}};
  if (same_rules_on_devices(contract_)) {
    auto alone = elementwise(normal, call);
    if (!alone) return alone.error();
    facts.elementwise = *alone;
  }
  for (const auto& distribution : uncertain_magnitudes(contract_, now_.plan.layout)) {
    auto pooled = pooled_rms([&]() -> Result<std::vector<double>> {
      auto one = answered_trial({dims, distribution, fresh_seed(), {}, {}}, call);
      if (!one) return one.error();
      return std::move(one->rms);
    });
    if (!pooled) return pooled.error();
    facts.rms[distribution] = *std::move(pooled);
  }
  facts_.emplace(dims, std::move(facts));
  return first->not_finite == 0;
}

Result<bool> DeviceTrials::answers_as_before(const CallContext& call) {
  const auto& dims = contract_.cases.front().dims;
  const auto known = facts_.find(dims);
  if (known == facts_.end()) return false;
  const auto& before = known->second.answer;
  auto now = answered_trial({dims, "normal", known->second.seed, {}, {}}, call);
  if (!now) return now.error();
  // A judge adds up in another order each time. Of 2^27 like elements, one that is gone changes
  // more.
  constexpr double kOrder = 1e-10;
  return now->not_finite == before.not_finite &&
         std::ranges::equal(now->rms, before.rms, [](double one, double other) {
           return std::abs(one - other) <= kOrder * std::abs(other);
         });
}

Result<bool> DeviceTrials::elementwise(Content content, const CallContext& call) {
  const auto layout = now_.plan.layout;
  bool any = false;
  for (const auto& one : single_elements(contract_, layout)) {
    content.changed = one;
    if (auto done = try_content(content, call); !done) return done.error();
    auto stale = forged(wire::Control::stale, exact_plan(layout), call);
    if (!stale) return stale.error();
    if (!*stale || mismatches_of(**stale) != 1) return false;
    any = true;
  }
  return any;
}

Result<bool> DeviceTrials::shadow_of(const CallContext& call) {
  if (!now_.shadow) {
    if (contract_.reference_kind != ReferenceKind::python || !widens_) return false;
    auto made = make_shadow(call);
    if (!made) return made;
    now_.shadow = *made;
  }
  return *now_.shadow;
}

Result<bool> DeviceTrials::make_shadow(const CallContext& call) {
  constexpr std::chrono::seconds kLong(5);
  constexpr const char* kNoRoom = "free device memory does not suffice for it";
  const auto plan = wide_call_of(contract_, now_.dims, now_.plan.layout);
  no_shadow_.clear();
  auto room = ask({.widen_on_device = wire::WidenOnDevice{plan.layout}}, {}, call);
  if (!room) return room.error();
  if (!room->first.fits.value_or(false)) {
    no_shadow_ = kNoRoom;
    return false;
  }
  if (!room->second.empty()) {
    auto attached = reference_.attach_wide(room->second, plan.layout.bytes, call);
    if (!attached) return attached.error();
  }
  const auto begin = std::chrono::steady_clock::now();
  auto failed = reference_.run_wide(plan, call);
  if (!failed) return failed.error();
  if (reference_.fault()) return reference_failed(*reference_.fault());
  if (*failed) {
    // Smaller sizes may have room; what it cannot compute in float64 stays so.
    const bool no_room = (*failed)->message.find("OutOfMemoryError") != std::string::npos;
    if (no_room) no_shadow_ = kNoRoom;
    widens_ = no_room;
    return false;
  }
  if (std::chrono::steady_clock::now() - begin > kLong) {
    widens_ = false;
    no_shadow_ = "it takes more than five seconds";
  }
  return true;
}

Result<wire::Reply> DeviceTrials::step(const wire::TermsOnDevice& plan, const CallContext& call) {
  auto reply = ask({.terms_on_device = plan}, {}, call);
  if (!reply) return reply.error();
  return std::move(reply->first);
}

Result<bool> DeviceTrials::terms_of(const CallContext& call) {
  if (!now_.terms) {
    auto made = make_terms(call);
    if (!made) return made;
    now_.terms = *made;
  }
  return *now_.terms;
}

Result<bool> DeviceTrials::make_terms(const CallContext& call) {
  const auto known = facts_.find(now_.dims);
  if (known == facts_.end()) return false;
  auto& sums = known->second.linear;
  const auto parts = parts_of_sums(contract_, now_.plan.layout);
  // What the task makes could not be made once more for the trial that is judged.
  if (!sums && (makes_inputs() || !parts)) sums = false;
  if (!sums) {
    const Now before = now_;
    auto found = linear(*parts, before.dims, call);
    if (!found) return found.error();
    sums = *found;
    // The trial and its answer once more, where others have been since; its shadow is still there.
    const auto& made = before.generated;
    const Content content{before.dims, made.content.distribution, made.content.seed, made.changed,
                          made.uses};
    if (auto done = generate(before.plan, content, {}, call); !done) return done.error();
    now_.shadow = before.shadow;
    if (auto done = answer(call); !done) return done.error();
  }
  if (!sums.value_or(false)) return false;
  auto aside = step({wire::TermsStep::magnitudes, "", {}}, call);
  if (!aside) return aside.error();
  if (!aside->fits.value_or(false)) return false;
  if (auto done = answer(call); !done) return done.error();
  auto restored = step({wire::TermsStep::restore, "", {}}, call);
  if (!restored) return restored.error();
  return true;
}

Result<std::optional<bool>> DeviceTrials::linear(const PartsOfSums& parts, const Dims& dims,
                                                 const CallContext& call) {
  for (const auto& input : parts.inputs) {
    auto is = linear_in(input, dims, call);
    if (!is || !*is || !**is) return is;
  }
  return std::optional(true);
}

Result<std::optional<bool>> DeviceTrials::linear_in(const std::string& input, const Dims& dims,
                                                    const CallContext& call) {
  Content content{dims, "normal", fresh_seed(), {}, {}};
  if (auto done = try_content(content, call); !done) return done.error();
  auto kept_aside = step({wire::TermsStep::keep, "", {}}, call);
  if (!kept_aside) return kept_aside.error();
  if (!kept_aside->fits.value_or(false)) return std::optional<bool>{};
  content.changed = wire::Changed{input, fresh_seed(), {}};
  if (auto done = try_content(content, call); !done) return done.error();
  if (auto added = step({wire::TermsStep::add, input, {}}, call); !added) return added.error();
  if (auto done = answer(call); !done) return done.error();
  auto judged =
      step({wire::TermsStep::judge, "", plan_for_sums(contract_, dims, now_.plan.layout)}, call);
  if (!judged) return judged.error();
  if (!judged->comparison) return Error{ErrorCode::internal, "the judge gave no verdict"};
  return std::optional(std::ranges::none_of(
      judged->comparison->outputs, [](const auto& output) { return output.mismatches > 0; }));
}

}  // namespace ratchet
