#include "kernels/judge/trial_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/contract/input_init.h"
#include "kernels/contract/tolerance.h"
#include "kernels/process/python_inputs.h"
#include "server/core/hash.h"

namespace ratchet {

bool keeps_contents(const TensorSpec& tensor) {
  return tensor.init == kGivenInit || tensor.init == kZerosInit;
}

std::vector<std::string> distributions_of(const Contract& contract) {
  const bool differs =
      std::any_of(contract.tensors.begin(), contract.tensors.end(), [](const TensorSpec& tensor) {
        return tensor.role != Role::out && !tensor.init.starts_with("uniform") &&
               !keeps_contents(tensor);
      });
  if (!differs) return {"normal"};
  if (!contract.judge) return {"normal", "shifted", "large", "small"};
  std::vector<std::string> all{"normal", "shifted", "large", "small", "special", "sequence"};
  const bool half = std::ranges::any_of(contract.tensors, [](const TensorSpec& tensor) {
    return tensor.role != Role::out && tensor.dtype == DType::f16 && tensor.init == "normal";
  });
  if (half) all.emplace_back("extreme");  // "large" reaches as far in the wider types
  return all;
}

std::vector<std::string> values_of(const Contract& contract) {
  auto all = distributions_of(contract);
  if (contract.found_values)
    all.insert(all.end(), contract.found_values->begin(), contract.found_values->end());
  return all;
}

std::vector<std::string> edge_values_of(const Contract& contract) {
  constexpr int kSince = 4;
  const bool any = std::ranges::any_of(contract.tensors, [](const TensorSpec& tensor) {
    return tensor.role != Role::out && is_floating(tensor.dtype) && tensor.init == "normal";
  });
  if (!any || !contract.judged_since(kSince)) return {};
  return {"largest", "infinite", "nan"};
}

bool need_finite_answer(std::string_view values) {
  return values != "normal" && values != "infinite" && values != "nan";
}

bool drawn_once(std::string_view values) {
  constexpr std::array<std::string_view, 4> kOften{"normal", "shifted", "large", "small"};
  return std::ranges::find(kOften, values) == kOften.end();
}

std::vector<wire::Changed> slices_of(const Contract& contract, const wire::ArenaLayout& layout,
                                     std::string_view seed) {
  constexpr std::int64_t kTiles = 128;
  constexpr std::size_t kMost = 12;
  std::vector<wire::Changed> slices;
  if (!contract.judge) return slices;
  for (std::size_t i = 0; i < layout.buffers.size(); ++i) {
    const auto& buffer = layout.buffers[i];
    const bool values = is_floating(buffer.dtype) || buffer.init.starts_with("integers");
    if (buffer.role == Role::out || !values || keeps_contents(contract.tensors[i])) continue;
    for (std::size_t axis = 0; axis < buffer.shape.size(); ++axis) {
      const auto extent = buffer.shape[axis];
      if (extent < 2) continue;
      const auto tile = std::max<std::int64_t>(1, extent / kTiles);
      slices.push_back(
          {buffer.name, "", wire::Slice{static_cast<int>(axis), extent - tile, extent, 0}});
    }
    const Digest digest = sha256(fmt::format("element of {} {}", buffer.name, seed));
    std::uint64_t drawn = 0;
    std::memcpy(&drawn, digest.data(), sizeof drawn);
    const auto element =
        static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(buffer.elements));
    slices.push_back({buffer.name, "", wire::Slice{-1, element, element + 1, 0}});
  }
  // Whoever asks about the first few gets any of them.
  if (!slices.empty()) {
    const Digest digest = sha256(fmt::format("slices {}", seed));
    std::rotate(slices.begin(), slices.begin() + digest[0] % static_cast<long>(slices.size()),
                slices.end());
  }
  if (slices.size() > kMost) slices.resize(kMost);
  return slices;
}

std::string described(const wire::Changed& changed) {
  const auto& slice = *changed.slice;
  if (slice.axis < 0) return fmt::format("element {} of {}", slice.from, changed.tensor);
  if (slice.to - slice.from == 1)
    return fmt::format("index {} of axis {} of {}", slice.from, slice.axis, changed.tensor);
  return fmt::format("the range {} … {} of axis {} of {}", slice.from, slice.to - 1, slice.axis,
                     changed.tensor);
}

std::vector<wire::Changed> raised(const wire::Changed& slice) {
  std::vector<wire::Changed> steps;
  const auto add = [&](std::int64_t from) {
    for (const double amount : {4.0, 64.0, 1024.0}) {
      steps.push_back(slice);
      steps.back().slice->from = from;
      steps.back().slice->amount = amount;
    }
  };
  add(slice.slice->to - 1);
  if (slice.slice->to - slice.slice->from > 1) add(slice.slice->from);
  return steps;
}

wire::Compare loosened(wire::Compare plan, double factor) {
  for (auto& tolerance : plan.tolerances) {
    tolerance.atol *= factor;
    tolerance.rtol *= factor;
    tolerance.honest *= factor;
    tolerance.terms *= factor;
    if (factor == 1) continue;
    tolerance.noise = 0;
    tolerance.bias = 0;
    tolerance.flush = false;
  }
  return plan;
}

bool leaves_rest(const Contract& contract, const wire::Comparison& verdict) {
  return contract.rest_within && verdict.passed &&
         std::ranges::any_of(verdict.outputs,
                             [](const OutputError& output) { return output.mismatches > 0; });
}

wire::Compare plan_for_rest(const Contract& contract, wire::Compare plan) {
  for (std::size_t i = 0; i < plan.tolerances.size(); ++i) {
    auto& tolerance = plan.tolerances[i];
    tolerance.matched_ratio = 1;
    if (tolerance.exact) continue;
    const auto own = default_tolerance(plan.layout.buffers[i].dtype);
    const double atol = *contract.rest_within * own.atol;
    // The given atol stays what an element may be off by at least, however small the answers.
    if (tolerance.scale == wire::AtolScale::absolute && atol > 0) {
      tolerance.least_scale = std::max(tolerance.least_scale, tolerance.atol / atol);
      tolerance.scale = wire::AtolScale::rms;
      tolerance.atol = atol;
    }
    tolerance.atol = std::max(tolerance.atol, atol);
    tolerance.rtol = std::max(tolerance.rtol, *contract.rest_within * own.rtol);
    tolerance.only_honest = false;
  }
  return plan;
}

}  // namespace ratchet
