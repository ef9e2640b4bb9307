// What a judge learns about one case from trials of its own.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/judge/judge.h"

namespace ratchet {

Result<std::vector<double>> Judge::pooled_rms(const Dims& dims, const std::string& distribution,
                                              int trials, const CallContext& call) {
  std::vector<double> squares;
  for (int i = 0; i < trials; ++i) {
    auto trial = make_trial(dims, distribution, fresh_seed(), call);
    if (!trial) return trial.error();
    squares.resize(trial->rms.size());
    for (std::size_t k = 0; k < squares.size(); ++k)
      squares[k] += trial->rms[k] * trial->rms[k] / trials;
  }
  for (auto& value : squares) value = std::sqrt(value);
  return squares;
}

Result<bool> Judge::elementwise(const Trial& trial, const CallContext& call) {
  const auto& layout = trial.plan.layout;
  std::int64_t written = 0;
  for (const auto& buffer : layout.buffers)
    if (buffer.role != Role::in) written += buffer.elements;
  bool any = false;
  for (const auto& one : slices_of(contract_, layout, "elementwise")) {
    const auto& buffer = *std::ranges::find(layout.buffers, one.tensor, &wire::Buffer::name);
    if (one.slice->axis >= 0 || buffer.elements < written || written < 2) continue;
    auto after = changed(trial, raised(one).front(), call);
    if (!after) return after.error();
    auto plan = wire::Compare{layout, {}, {}};
    plan.tolerances.assign(layout.buffers.size(), wire::Tolerance{});  // exact
    const std::array descriptors{after->sent.fd(), trial.expected.fd(), after->expected.fd()};
    auto reply = ask({.compare = plan}, descriptors, call);
    if (!reply) return reply.error();
    std::int64_t differing = 0;
    for (const auto& output : reply->comparison->outputs) differing += output.mismatches;
    if (differing != 1) return false;
    any = true;
  }
  return any;
}

Result<Judge::CaseFacts*> Judge::facts_of(const Dims& dims, const CallContext& call) {
  constexpr std::int64_t kFew = 64;
  constexpr int kTrials = 4;
  if (const auto known = facts_.find(dims); known != facts_.end()) return &known->second;
  auto trial = make_trial(dims, "normal", fresh_seed(), call);
  if (!trial) return trial.error();
  CaseFacts facts;
  facts.finite = trial->not_finite == 0;
  auto alone = elementwise(*trial, call);
  if (!alone) return alone.error();
  facts.elementwise = *alone;
  facts.rms["normal"] = trial->rms;
  // The magnitude of a few sums is left to chance: it takes several trials to see.
  const bool few = std::ranges::any_of(trial->plan.layout.buffers, [](const auto& buffer) {
    return buffer.role != Role::in && buffer.elements < kFew;
  });
  if (few)
    for (const auto& distribution : distributions_of(contract_)) {
      if (drawn_once(distribution)) continue;
      auto pooled = pooled_rms(dims, distribution, kTrials, call);
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
