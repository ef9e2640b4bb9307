// Outputs that are sums of products: what their terms allow.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract/tolerance.h"
#include "kernels/judge/judge.h"
#include "kernels/judge/sums.h"

namespace ratchet {
std::optional<PartsOfSums> parts_of_sums(const Contract& contract,
                                         const wire::ArenaLayout& layout) {
  PartsOfSums parts;
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const auto& buffer = layout.buffers[i];
    const bool output = buffer.role != Role::in;
    if (output && (buffer.role == Role::inout || !is_floating(buffer.dtype))) return std::nullopt;
    if (!output && !is_floating(buffer.dtype)) continue;
    if (!output && keeps_contents(contract.tensors[i])) return std::nullopt;
    (output ? parts.outputs : parts.inputs).push_back(buffer.name);
  }
  if (parts.inputs.empty()) return std::nullopt;
  return parts;
}

wire::Compare plan_for_sums(Contract contract, const Dims& dims, const wire::ArenaLayout& layout) {
  for (auto& tensor : contract.tensors) tensor.atol = tensor.rtol = std::nullopt;
  return comparison_plan(contract, dims, layout, std::nullopt, std::nullopt);
}

Result<MemoryFile> Judge::combined(const MemoryFile& first, const MemoryFile& second,
                                   const wire::Combine& plan, const CallContext& call) {
  auto made = MemoryFile::create("combined", plan.layout.bytes);
  if (!made) return made.error();
  const std::array descriptors{first.fd(), made->fd(), second.fd()};
  auto done = ask({.combine = plan}, descriptors, call);
  if (!done) return done.error();
  return made;
}

Result<bool> Judge::linear(const Trial& trial, const CallContext& call) {
  const auto& layout = trial.plan.layout;
  const auto parts = parts_of_sums(contract_, layout);
  if (!parts) return false;
  for (const auto& input : parts->inputs) {
    auto other = with_other(trial, input, fresh_seed(), call);
    if (!other) return other.error();
    auto both = combined(trial.sent, other->sent, {layout, {input}}, call);
    if (!both) return both.error();
    auto answer = answered(trial.dims, trial.distribution, trial.plan, *std::move(both), call);
    if (!answer) return answer.error();
    auto sums = combined(trial.expected, other->expected, {layout, parts->outputs}, call);
    if (!sums) return sums.error();
    const std::array descriptors{answer->sent.fd(), sums->fd(), answer->expected.fd()};
    auto reply = ask({.compare = plan_for_sums(contract_, trial.dims, layout)}, descriptors, call);
    if (!reply) return reply.error();
    const auto differs = [](const OutputError& output) { return output.mismatches > 0; };
    if (!reply->comparison || std::ranges::any_of(reply->comparison->outputs, differs))
      return false;
  }
  return true;
}

Result<const MemoryFile*> Judge::terms_of(const Trial& trial, const CallContext& call) {
  if (termed_ == trial.number) return terms_ ? &*terms_ : nullptr;
  terms_.reset();
  auto facts = facts_of(trial.dims, call);
  if (!facts) return facts.error();
  if (!(*facts)->linear) {
    auto normal = make_trial(trial.dims, "normal", fresh_seed(), call);
    if (!normal) return normal.error();
    auto found = linear(*normal, call);
    if (!found) return found.error();
    (*facts)->linear = *found;
  }
  termed_ = trial.number;
  if (!*(*facts)->linear) return nullptr;
  const auto& layout = trial.plan.layout;
  wire::Combine plan{layout, {}, wire::Combination::magnitudes};
  for (const auto& buffer : layout.buffers)
    if (buffer.role == Role::in) plan.names.push_back(buffer.name);
  auto inputs = combined(trial.sent, trial.sent, plan, call);
  if (!inputs) return inputs.error();
  if (auto sealed = inputs->seal(); !sealed) return sealed.error();
  auto answer = reference_->answer(trial.dims, trial.plan, *inputs, call);
  if (!answer) return answer.error();
  terms_ = *std::move(answer);
  return &*terms_;
}

}  // namespace ratchet
