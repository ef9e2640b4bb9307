#include "kernels/contract/contract_warnings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "kernels/contract/hidden_cases.h"
#include "kernels/contract/tolerance.h"
#include "kernels/process/python_inputs.h"
#include "kernels/source/signature.h"
#include "server/facts/unit_roundoff.h"

namespace ratchet {
namespace {

using Warn = std::function<void(std::string code, std::string message)>;

/// What their values are and how closely they are compared.
void warn_of_tensors(const Contract& contract, const Warn& warn) {
  const std::string rest =
      contract.rest_within
          ? fmt::format("may be off by up to {:g} times the server's own tolerance",
                        *contract.rest_within)
          : "may be wrong by any finite amount";
  for (const auto& tensor : contract.tensors) {
    const bool values = contract.judge && (tensor.dtype == DType::i8 || tensor.dtype == DType::i16);
    const bool integers = !is_floating(tensor.dtype) && tensor.dtype != DType::boolean && !values;
    if (integers && tensor.role != Role::out && tensor.init == "normal")
      warn("untyped_indices",
           fmt::format("{} is an integer tensor and is filled with values from 0 to the smallest "
                       "size; if it means something else, set its `init`",
                       tensor.name));
    const auto usual = default_tolerance(tensor.dtype);
    const auto rtol = tensor.rtol ? tensor.rtol : contract.rtol;
    if (tensor.role != Role::in && is_floating(tensor.dtype) && rtol && *rtol > 10 * usual.rtol)
      warn("loose_tolerance", fmt::format("rtol {} is more than ten times the usual {} for {}",
                                          *rtol, usual.rtol, name_of(tensor.dtype)));
    if (tensor.matched_ratio.value_or(1) < 1)
      warn("loose_matched_ratio",
           fmt::format("{:.4g} % of {} {}", (1 - *tensor.matched_ratio) * 100, tensor.name, rest));
  }
  if (contract.matched_ratio.value_or(1) < 1)
    warn("loose_matched_ratio",
         fmt::format("{:.4g} % of every output {}", (1 - *contract.matched_ratio) * 100, rest));
  for (const auto& tensor : contract.tensors) {
    const auto used = tolerance_for(tensor.dtype, tensor.atol ? tensor.atol : contract.atol,
                                    tensor.rtol ? tensor.rtol : contract.rtol);
    const auto least = unit_roundoff(tensor.dtype);
    if (tensor.role != Role::in && used.rtol < least && used.atol < least)
      warn("tight_tolerance",
           fmt::format("rtol {:.1e} with atol {:.1e} is below the rounding of {} itself ({:.1e}): "
                       "correct values of {} may fail; use larger tolerances",
                       used.rtol, used.atol, name_of(tensor.dtype), least, tensor.name));
  }
}

}  // namespace

std::vector<Reason> contract_warnings(const Contract& contract) {
  std::vector<Reason> warnings;
  const auto warn = [&](std::string code, std::string message) {
    warnings.push_back({std::move(code), std::move(message), {}});
  };
  warn_of_tensors(contract, warn);
  const auto dims = std::ranges::count(contract.parameters, ParameterKind::dim, &Parameter::kind);
  const bool same_shapes = std::ranges::all_of(contract.tensors, [&](const TensorSpec& tensor) {
    return tensor.shape == contract.tensors[0].shape;
  });
  if (dims > 2 && contract.tensors.size() > 1 && same_shapes)
    warn("inferred_tensors",
         fmt::format("every buffer has {} elements; give `tensors` if one needs more",
                     contract.tensors[0].shape[0]));
  const bool given =
      std::ranges::find(contract.tensors, kGivenInit, &TensorSpec::init) != contract.tensors.end();
  const auto function = inputs_function(contract.kernel, contract.reference);
  if (given && function && !function->of_reference)
    warn("solution_inputs",
         "the inputs come from setup() of the first kernel; inputs() in ref.py would be the "
         "reference's own");
  if (contract.where && hidden_cases(contract, "any", 1).empty())
    warn(
        "no_hidden_sizes",
        fmt::format("no size other than the given ones was found that keeps {}: a kernel that only "
                    "handles the given sizes passes",
                    fmt::join(*contract.where, ", ")));
  if (!contract.work)
    warn("work_undeclared",
         "without `work` no achieved rates are reported, and no lower bound on the time");
  if (contract.seed_given)
    warn("fixed_seed",
         "the seed was given by the caller, so the inputs can be predicted and the result counts "
         "for less");
  if (!is_python(contract.implementation) && !contract.launch) {
    const auto signature = parse_signature(contract.kernel.text, contract.entry,
                                           {language_of(contract.implementation), contract.flags});
    if (signature && !signature->extern_c)
      warn("missing_extern_c",
           fmt::format("{} lacks extern \"C\"; a generated solve.h declares it", contract.entry));
  }
  return warnings;
}

}  // namespace ratchet
