// What a judge learns about one case from trials of its own.

#include "kernels/judge/case_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/judge/judge.h"
#include "kernels/judge/trial_plan.h"

namespace ratchet {

std::vector<wire::Changed> single_elements(const Contract& contract,
                                           const wire::ArenaLayout& layout) {
  std::int64_t written = 0;
  for (const auto& buffer : layout.buffers)
    if (buffer.role != Role::in) written += buffer.elements;
  std::vector<wire::Changed> single;
  for (const auto& one : slices_of(contract, layout, "elementwise")) {
    const auto& buffer = *std::ranges::find(layout.buffers, one.tensor, &wire::Buffer::name);
    if (one.slice->axis >= 0 || buffer.elements < written || written < 2) continue;
    single.push_back(raised(one).front());
  }
  return single;
}

wire::Compare exact_plan(const wire::ArenaLayout& layout) {
  wire::Compare plan{layout, {}, {}};
  plan.tolerances.assign(layout.buffers.size(), wire::Tolerance{});
  return plan;
}

std::int64_t mismatches_of(const wire::Comparison& comparison) {
  std::int64_t mismatches = 0;
  for (const auto& output : comparison.outputs) mismatches += output.mismatches;
  return mismatches;
}

std::vector<std::string> uncertain_magnitudes(const Contract& contract,
                                              const wire::ArenaLayout& layout) {
  constexpr std::int64_t kFew = 64;
  const bool few = std::ranges::any_of(layout.buffers, [](const auto& buffer) {
    return buffer.role != Role::in && buffer.elements < kFew;
  });
  if (!few) return {};
  auto distributions = distributions_of(contract);
  std::erase_if(distributions, [](const auto& one) { return drawn_once(one); });
  return distributions;
}

Result<std::vector<double>> pooled_rms(
    const std::function<Result<std::vector<double>>()>& rms_of_trial) {
  constexpr int kTrials = 4;
  std::vector<double> squares;
  for (int i = 0; i < kTrials; ++i) {
    const auto rms = rms_of_trial();
    if (!rms) return rms.error();
    squares.resize(rms->size());
    for (std::size_t k = 0; k < squares.size(); ++k) squares[k] += (*rms)[k] * (*rms)[k] / kTrials;
  }
  for (auto& value : squares) value = std::sqrt(value);
  return squares;
}

Result<bool> Judge::elementwise(const Trial& trial, const CallContext& call) {
  const auto& layout = trial.plan.layout;
  bool any = false;
  for (const auto& one : single_elements(contract_, layout)) {
    auto after = changed(trial, one, call);
    if (!after) return after.error();
    const std::array descriptors{after->sent.fd(), trial.expected.fd(), after->expected.fd()};
    auto reply = ask({.compare = exact_plan(layout)}, descriptors, call);
    if (!reply) return reply.error();
    if (mismatches_of(*reply->comparison) != 1) return false;
    any = true;
  }
  return any;
}

Result<Judge::CaseFacts*> Judge::facts_of(const Dims& dims, const CallContext& call) {
  if (const auto known = facts_.find(dims); known != facts_.end()) return &known->second;
  auto trial = make_trial(dims, "normal", fresh_seed(), call);
  if (!trial) return trial.error();
  CaseFacts facts;
  facts.finite = trial->not_finite == 0;
  auto alone = elementwise(*trial, call);
  if (!alone) return alone.error();
  facts.elementwise = *alone;
  facts.rms["normal"] = trial->rms;
  for (const auto& distribution : uncertain_magnitudes(contract_, trial->plan.layout)) {
    auto pooled = pooled_rms([&]() -> Result<std::vector<double>> {
      auto one = make_trial(dims, distribution, fresh_seed(), call);
      if (!one) return one.error();
      return std::move(one->rms);
    });
    if (!pooled) return pooled.error();
    facts.rms[distribution] = *std::move(pooled);
  }
  return &facts_.emplace(dims, std::move(facts)).first->second;
}

Result<bool> Judge::finite_when_normal(const Dims& dims, const CallContext& call) {
  if (!contract_.judge) return false;
  auto facts = facts_of(dims, call);
  if (!facts) return facts.error();
  return (*facts)->finite;
}

}  // namespace ratchet
