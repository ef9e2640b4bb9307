#include "kernels/contract/tolerance.h"

#include <algorithm>
#include <cmath>

#include "kernels/contract/layout.h"
#include "kernels/contract/where.h"
#include "kernels/protocol/value_recipes.h"
#include "kernels/source/expression.h"
#include "server/facts/unit_roundoff.h"

namespace ratchet {

wire::Tolerance default_tolerance(DType type) {
  using enum wire::AtolScale;
  switch (type) {
    case DType::f64:
      return {1e-10, 1e-9, rms, false};
    case DType::f32:
      return {1e-4, 1e-4, rms, false};
    case DType::f16:
    case DType::bf16:
      return {1e-2, 1e-2, rms, false};
    case DType::f8_e4m3:
      return {3e-2, 0.125, rms, false};
    case DType::f8_e5m2:
      return {6e-2, 0.25, rms, false};
    default:
      return {0, 0, absolute, true};
  }
}

wire::Tolerance tolerance_for(DType type, const std::optional<double>& atol,
                              const std::optional<double>& rtol) {
  auto tolerance = default_tolerance(type);
  if (tolerance.exact) return tolerance;
  if (atol) {
    tolerance.atol = *atol;
    tolerance.scale = wire::AtolScale::absolute;
  }
  if (rtol) tolerance.rtol = *rtol;
  return tolerance;
}

double reduction_length(const Contract& contract, const Dims& dims, const wire::ArenaLayout& layout,
                        const wire::Buffer& output) {
  const auto elements = static_cast<double>(std::max<std::int64_t>(1, output.elements));
  double length = 1;
  for (const auto& buffer : layout.buffers)
    if (buffer.role != Role::out)
      length = std::max(length, static_cast<double>(buffer.elements) / elements);
  const auto flops = contract.work ? evaluate(contract.work->flops, names_in(contract, dims))
                                   : Result<double>(0.0);
  return flops ? std::max(length, *flops / 2 / elements) : length;
}

double reduction_growth(DType type, double length) {
  constexpr double kRoom = 0x1p18;
  constexpr double kMost = 3;
  return type == DType::f32 ? std::clamp(std::sqrt(length / kRoom), 1.0, kMost) : 1.0;
}

double largest_growth(const Contract& contract) {
  double growth = 1;
  if (contract.atol) return growth;
  for (const auto& one : contract.cases) {
    const auto layout = layout_of(contract, one.dims);
    if (!layout) continue;
    for (const auto& buffer : layout->buffers)
      if (buffer.role != Role::in)
        growth = std::max(
            growth,
            reduction_growth(buffer.dtype, reduction_length(contract, one.dims, *layout, buffer)));
  }
  return growth;
}

bool allows_for_terms(const Contract& contract) {
  constexpr int kSince = 3;
  return contract.judged_since(kSince);
}

bool same_rules_on_devices(const Contract& contract) {
  constexpr int kSince = 5;
  return contract.judged_since(kSince);
}

bool shadow_tightens(const Contract& contract, const std::optional<double>& atol,
                     const std::optional<double>& rtol) {
  if (atol || rtol) return false;
  return std::ranges::any_of(contract.tensors, [](const TensorSpec& tensor) {
    return tensor.role != Role::in && (tensor.dtype == DType::f16 || tensor.dtype == DType::bf16);
  });
}

double error_of_terms(DType type, double length) {
  constexpr double kRoundings = 8;
  constexpr double kRoom = 0x1p18;
  const double unit = type == DType::f64 ? unit_roundoff(type) : unit_roundoff(DType::f32);
  return kRoundings * unit * std::min(1.0, std::sqrt(kRoom / length));
}

Status plan_tolerances(Contract& contract, const TaskRequest& task) {
  const auto leaves_rest = [](const TensorSpec& tensor) {
    return tensor.matched_ratio.value_or(1) < 1;
  };
  if (task.rest_within && task.matched_ratio.value_or(1) == 1 &&
      std::ranges::none_of(task.tensors, leaves_rest))
    return invalid_argument("rest_within: all elements have to match, so there is no rest",
                            "Give a matched_ratio below 1, or leave rest_within out.");
  contract.atol = task.atol;
  contract.rtol = task.rtol;
  contract.matched_ratio = task.matched_ratio;
  contract.rest_within = task.rest_within;
  return {};
}

namespace {

/// The share of an output whose errors may lie in the tail of what honest roundings add up to: of
/// 33 million sums a few do. An output with fewer than 2^20 elements has no such element, nor has
/// one whose elements are no sums.
double tail_of(const JudgeRules& rules, const TrialFacts& facts) {
  constexpr int kSince = 4;
  return rules.version >= kSince && !facts.elementwise ? 0x1p-20 : 0;
}

/// The rules of JudgeRules; `own`: the server's tolerance for this output.
wire::Tolerance judged_by(const JudgeRules& rules, const wire::Tolerance& own, DType type,
                          const std::optional<double>& atol, const std::optional<double>& rtol,
                          const TrialFacts& facts, std::size_t output) {
  using enum wire::AtolScale;
  auto tolerance = own;
  if (own.exact) {
    if (type != DType::boolean && atol && *atol >= 1) {
      tolerance.exact = false;
      tolerance.atol = *atol;
    }
    return tolerance;
  }
  const auto recipe = recipe_of(facts.distribution);
  // Beside a few values that are far away, the rest says nothing as a whole.
  const bool at_edge = recipe && is_edge(recipe->kind);
  // Of constant rows a reference may answer its own rounding where the true answer is zero, as a
  // layer norm does; only an answer in float64 tells that from a small answer.
  tolerance.flush = !at_edge && (facts.shadow || facts.distribution != "sequence");
  tolerance.tail = tail_of(rules, facts);
  tolerance.scale = facts.elementwise ? typical : row;
  if (output < facts.least_rms.size()) tolerance.least_scale = facts.least_rms[output];
  if (rtol) tolerance.rtol = *rtol;
  const double normal = output < facts.normal_rms.size() ? facts.normal_rms[output] : 0;
  if (atol && facts.distribution == "normal") {
    tolerance.atol = *atol;
    tolerance.scale = absolute;
  } else if (atol && normal > 0) {
    tolerance.atol = std::min(*atol / normal, rules.looser * own.atol);
    tolerance.scale = rms;
  }
  if (!facts.shadow) return tolerance;
  tolerance.honest = rules.honest;
  const bool short_type = type == DType::f16 || type == DType::bf16;
  if (!short_type || atol || rtol || at_edge) return tolerance;
  tolerance.only_honest = facts.elementwise;
  tolerance.noise = rules.noise;
  tolerance.bias = rules.bias;
  return tolerance;
}

}  // namespace

wire::Compare comparison_plan(const Contract& contract, const Dims& dims,
                              const wire::ArenaLayout& layout,
                              const std::optional<double>& run_atol,
                              const std::optional<double>& run_rtol, const TrialFacts& facts) {
  wire::Compare plan{layout, {}, {}};
  std::size_t output = 0;
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const auto& buffer = layout.buffers[i];
    const auto& own_rules = contract.tensors.at(i);
    const auto atol = own_rules.atol ? own_rules.atol : run_atol;
    const auto rtol = own_rules.rtol ? own_rules.rtol : run_rtol;
    const double length = reduction_length(contract, dims, layout, buffer);
    const double growth = reduction_growth(buffer.dtype, length);
    if (contract.judge) {
      auto own = default_tolerance(buffer.dtype);
      own.atol *= growth;
      plan.tolerances.push_back(
          judged_by(*contract.judge, own, buffer.dtype, atol, rtol, facts, output));
    } else {
      auto tolerance = tolerance_for(buffer.dtype, atol, rtol);
      if (!atol) tolerance.atol *= growth;
      plan.tolerances.push_back(tolerance);
    }
    if (facts.terms && !plan.tolerances.back().exact && is_floating(buffer.dtype))
      plan.tolerances.back().terms = error_of_terms(buffer.dtype, length);
    plan.tolerances.back().matched_ratio =
        own_rules.matched_ratio.value_or(contract.matched_ratio.value_or(1));
    output += buffer.role != Role::in;
  }
  return plan;
}

}  // namespace ratchet
