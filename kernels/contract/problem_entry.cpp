#include "kernels/contract/problem_entry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/build/target.h"
#include "kernels/source/signature.h"

namespace ratchet {
namespace {

/// "const float* x, int n", as it is declared.
std::string declared(const Signature& signature) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i)
    all.push_back(signature.types[i] + " " + signature.parameters[i].name);
  return fmt::format("{}", fmt::join(all, ", "));
}

/// Whether a kernel may declare a parameter like this where its problem's is `wanted`.
bool serves(const Parameter& given, const Parameter& wanted) {
  return given.name == wanted.name && given.dtype == wanted.dtype &&
         (given.kind == ParameterKind::tensor) == (wanted.kind == ParameterKind::tensor) &&
         (wanted.is_const || !given.is_const);
}

bool has_pointer(const Contract& contract, const TensorSpec& tensor) {
  return std::ranges::any_of(contract.parameters, [&](const Parameter& one) {
    return one.kind == ParameterKind::tensor && one.name == tensor.name &&
           one.dtype == tensor.dtype && (tensor.role == Role::in || !one.is_const);
  });
}

/// What the entry of a problem with a reference in Python has, in any order.
std::string named_parts(const TaskRequest& task) {
  std::vector<std::string> pointers, sizes;
  for (const auto& tensor : task.tensors)
    pointers.push_back(
        fmt::format("{} ({}, {})", tensor.name, name_of(tensor.dtype), name_of(tensor.role)));
  for (const auto& [name, value] : task.dims) sizes.push_back(name);
  if (!task.cases.empty())
    for (const auto& [name, value] : task.cases.front().dims)
      if (!task.dims.contains(name)) sizes.push_back(name);
  auto text = fmt::format("pointers {}", fmt::join(pointers, ", "));
  if (!sizes.empty())
    text += fmt::format("; sizes, those that it uses of {}", fmt::join(sizes, ", "));
  std::vector<std::string> values;
  std::ranges::transform(task.scalars, std::back_inserter(values),
                         [](const auto& one) { return one.first; });
  if (!values.empty()) text += fmt::format("; values {}", fmt::join(values, ", "));
  return text;
}

}  // namespace

Error explained_by_problem(Error error, const Contract& contract, const TaskRequest& task) {
  if (!task.problem || error.code != ErrorCode::invalid_argument ||
      is_python(contract.implementation))
    return error;
  std::string wanted;
  bool differs = false;
  const auto kind = reference_kind_of(contract.reference.file_name);
  if (kind && *kind != ReferenceKind::python) {
    const auto reference =
        parse_signature(contract.reference.text, "reference", {language_of(*kind), {}});
    if (!reference) return error;
    wanted = fmt::format("Kernels of {} define extern \"C\" void {}({}).", *task.problem,
                         task.entry, declared(*reference));
    const auto& parameters = reference->parameters;
    differs = contract.parameters.size() < parameters.size() ||
              !std::equal(
                  parameters.begin(), parameters.end(), contract.parameters.begin(),
                  [](const auto& own, const auto& given) { return serves(given, own); });
  } else {
    wanted = fmt::format("Kernels of {} take, by name: {}.", *task.problem, named_parts(task));
    differs = !std::ranges::all_of(
        task.tensors, [&](const auto& tensor) { return has_pointer(contract, tensor); });
  }
  if (contract.parameters.empty()) return Error{error.code, error.message, wanted};
  if (!differs) return error;
  const auto given = parse_signature(contract.kernel.text, contract.entry,
                                     {language_of(contract.implementation), {}});
  return invalid_argument(
      fmt::format("{}{}({}) does not have the parameters of problem {}",
                  place_of_entry(contract.kernel, contract.entry), contract.entry,
                  given ? declared(*given) : "…", *task.problem),
      wanted);
}

}  // namespace ratchet
