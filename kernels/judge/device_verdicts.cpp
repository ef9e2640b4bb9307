// What a judge on a device decides, by the rules of Judge::compare.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "kernels/contract/layout.h"
#include "kernels/contract/tolerance.h"
#include "kernels/judge/device_trials.h"
#include "kernels/judge/trial_plan.h"

namespace ratchet {

wire::Compare DeviceTrials::comparison(double factor, Beside beside) const {
  const auto& changed = now_.generated.changed;
  TrialFacts facts{
      changed && changed->slice ? kSliceDistribution : now_.generated.content.distribution,
      {},
      {},
      false,
      beside.shadow,
      beside.terms};
  if (const auto known = facts_.find(now_.dims); known != facts_.end()) {
    const auto& rms = known->second.rms;
    facts.elementwise = known->second.elementwise;
    facts.normal_rms = rms.at("normal");
    // Pooled magnitudes only exist for short outputs.
    if (rms.size() > 1) {
      const auto own = rms.find(facts.distribution);
      facts.least_rms = own == rms.end() ? facts.normal_rms : own->second;
    }
  }
  auto plan = comparison_plan(contract_, now_.dims, now_.plan.layout, contract_.atol,
                              contract_.rtol, facts);
  if (!same_rules_on_devices(contract_))
    for (auto& tolerance : plan.tolerances) tolerance.flush = false;
  if (beside.shadow) plan.wide = widened(now_.plan.layout);
  plan.with_terms = beside.terms;
  return loosened(std::move(plan), factor);
}

Result<wire::Comparison> DeviceTrials::kept(wire::Compare plan, const CallContext& call) {
  auto reply =
      ask({.compare_on_device = wire::CompareOnDevice{std::move(plan), {}, true}}, {}, call);
  if (!reply) return reply.error();
  if (!reply->first.comparison) return Error{ErrorCode::internal, "the judge gave no verdict"};
  return *std::move(reply->first.comparison);
}

Status DeviceTrials::hold_rest(wire::Comparison& verdict, double factor, Beside beside,
                               const CallContext& call) {
  if (!leaves_rest(contract_, verdict)) return {};
  auto of_rest = kept(plan_for_rest(contract_, comparison(factor, beside)), call);
  if (!of_rest) return of_rest.error();
  if (!of_rest->passed) verdict = *std::move(of_rest);
  return {};
}

Status DeviceTrials::weigh(wire::Comparison& verdict, double factor, bool by_terms,
                           const CallContext& call) {
  if (!same_rules_on_devices(contract_)) return {};
  if (auto held = hold_rest(verdict, factor, {}, call); !held) return held;
  // An answer in float64 takes as long as the answer itself, and most can only allow more.
  if (verdict.passed && !shadow_tightens(contract_, contract_.atol, contract_.rtol)) return {};
  auto shadow = shadow_of(call);
  if (!shadow) return shadow.error();
  const auto lacking = *shadow ? std::string() : no_shadow_;
  const auto judge_again = [&](Beside beside) -> Status {
    auto again = kept(comparison(factor, beside), call);
    if (!again) return again.error();
    verdict = *std::move(again);
    return hold_rest(verdict, factor, beside, call);
  };
  if (*shadow)
    if (auto done = judge_again({true, false}); !done) return done;
  if (!verdict.passed && by_terms && allows_for_terms(contract_)) {
    auto terms = terms_of(call);
    if (!terms) return terms.error();
    if (*terms) {
      if (auto done = judge_again({*shadow, true}); !done) return done;
      verdict.by_terms = verdict.passed;
    }
  }
  verdict.no_shadow = lacking;
  return {};
}

Result<std::optional<wire::Comparison>> DeviceTrials::forged(wire::Control control,
                                                             const wire::Compare& plan,
                                                             const CallContext& call) {
  auto reply = ask({.forge_on_device = wire::ForgeOnDevice{control, plan}}, {}, call);
  if (!reply) return reply.error();
  return std::move(reply->first.comparison);
}

Result<std::optional<wire::Comparison>> DeviceTrials::forge(wire::Control control,
                                                            const CallContext& call) {
  auto verdict = forged(control, comparison(1, {}), call);
  if (!verdict || !*verdict) return verdict;
  if (auto weighed = weigh(**verdict, 1, true, call); !weighed) return weighed.error();
  return verdict;
}

Result<bool> DeviceTrials::moved(const CallContext& call) {
  const double factor = contract_.judge->moved;
  auto verdict = forged(wire::Control::stale, comparison(factor, {}), call);
  if (!verdict) return verdict.error();
  if (!*verdict) return false;
  if (auto weighed = weigh(**verdict, factor, false, call); !weighed) return weighed.error();
  return std::ranges::any_of((*verdict)->outputs,
                             [](const OutputError& output) { return output.mismatches > 0; });
}

Result<wire::Reply> DeviceTrials::compare(const wire::Place& place, const CallContext& call,
                                          double factor) {
  auto reply = ask(
      {.compare_on_device = wire::CompareOnDevice{comparison(factor, {}), place, false}}, {}, call);
  if (!reply) return reply.error();
  if (!reply->first.comparison) return Error{ErrorCode::internal, "the judge gave no verdict"};
  if (auto weighed = weigh(*reply->first.comparison, factor, true, call); !weighed)
    return weighed.error();
  return std::move(reply->first);
}

Result<bool> DeviceTrials::within(double factor, const CallContext& call) {
  auto verdict = kept(comparison(factor, {}), call);
  if (!verdict) return verdict.error();
  return verdict->passed;
}

}  // namespace ratchet
