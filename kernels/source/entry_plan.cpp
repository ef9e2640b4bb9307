#include "kernels/source/entry_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/source/launch.h"
#include "kernels/source/signature.h"

namespace ratchet {
namespace {

/// Assigns a source to every value parameter: dims, or a frozen scalar.
Status fill_scalars(std::vector<Parameter>& parameters, const TaskRequest& task) {
  std::set<std::string> used;
  for (auto& parameter : parameters) {
    const auto given = task.scalars.find(parameter.name);
    const bool as_scalar = parameter.kind == ParameterKind::scalar ||
                           (parameter.kind == ParameterKind::dim && given != task.scalars.end());
    if (!as_scalar) continue;
    if (given == task.scalars.end())
      return invalid_argument(
          fmt::format("scalars: the parameter {} of the entry has no value", parameter.name),
          fmt::format("Give scalars: {{\"{}\": …}}.", parameter.name));
    if (!is_floating(parameter.dtype) && (given->second != std::trunc(given->second) ||
                                          std::abs(given->second) > most_of(parameter.dtype)))
      return invalid_argument(
          fmt::format("scalars.{}: {} does not fit the type {} of the parameter", parameter.name,
                      given->second, name_of(parameter.dtype)),
          "Give a whole number that this type can hold.");
    parameter.kind = ParameterKind::scalar;
    parameter.value = given->second;
    used.insert(parameter.name);
  }
  for (const auto& [name, value] : task.scalars)
    if (!used.contains(name))
      return invalid_argument(
          fmt::format("scalars.{}: the entry function has no parameter of this name", name),
          "Use the name of a parameter that is passed by value.");
  return {};
}

/// Dims that the cases have and the signature does not.
std::vector<std::string> other_dims(const std::vector<Parameter>& parameters,
                                    const TaskRequest& task) {
  std::set<std::string> names;
  for (const auto& [name, value] : task.dims) names.insert(name);
  for (const auto& one : task.cases)
    for (const auto& [name, value] : one.dims) names.insert(name);
  for (const auto& parameter : parameters) names.erase(parameter.name);
  return {names.begin(), names.end()};
}

/// The named kernel, or the only one if the name is the default.
std::string device_entry(const TaskRequest& task, const Source& kernel) {
  const auto kernels = kernel_names(kernel.text);
  const bool named = std::ranges::find(kernels, task.entry) != kernels.end();
  return named || kernels.size() != 1 || task.entry != TaskRequest{}.entry ? task.entry
                                                                           : kernels[0];
}

}  // namespace

Result<EntryPlan> entry_as_written(const TaskRequest& task, const Source& kernel, bool cuda) {
  EntryPlan plan;
  plan.entry = task.entry;
  const auto line = cuda ? launch_line(kernel.text) : Result<std::optional<Launch>>(std::nullopt);
  if (!line) return line.error();
  plan.launch = *line ? *line : task.launch;
  if (plan.launch && !cuda)
    return invalid_argument("launch: a kernel for the processor is called, not launched on a GPU",
                            "Leave `launch` out.");
  if (plan.launch) plan.entry = device_entry(task, kernel);
  auto signature =
      parse_signature(kernel.text, plan.entry, {cuda, task.flags, plan.launch.has_value()});
  if (!signature)
    return Error{signature.error().code,
                 place_of_entry(kernel, plan.entry) + signature.error().message,
                 signature.error().hint};
  auto& parameters = signature->parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].kind == ParameterKind::stream && (plan.launch || i + 1 != parameters.size()))
      return invalid_argument(
          fmt::format("{}: the stream {} must be the last parameter of the entry", kernel.file_name,
                      parameters[i].name),
          "Make cudaStream_t the last parameter; a __global__ function takes none.");
  plan.parameters = std::move(parameters);
  return plan;
}

Result<EntryPlan> compiled_entry(const TaskRequest& task, const Source& kernel, bool cuda) {
  auto plan = entry_as_written(task, kernel, cuda);
  if (!plan) return plan;
  if (const auto filled = fill_scalars(plan->parameters, task); !filled) return filled.error();
  if (plan->launch)
    for (const auto& name : other_dims(plan->parameters, task))
      plan->parameters.push_back({name, ParameterKind::dim, DType::i64, false, {}});
  return plan;
}

Result<EntryPlan> python_entry(const TaskRequest& task, const Source& kernel) {
  if (kernel.text.find("def run_kernel") == std::string::npos)
    return invalid_argument(
        fmt::format("{}: the function run_kernel is not defined", kernel.file_name),
        "Define run_kernel with the names of the tensors, dims and scalars that it uses as "
        "parameters (all are passed by keyword); it writes its outputs in place or returns them.");
  std::vector<Parameter> parameters;
  for (const auto& tensor : task.tensors)
    parameters.push_back(
        {tensor.name, ParameterKind::tensor, tensor.dtype, tensor.role == Role::in, {}});
  const auto& dims = task.dims.empty() && !task.cases.empty() ? task.cases[0].dims : task.dims;
  for (const auto& [name, value] : dims)
    parameters.push_back({name, ParameterKind::dim, DType::i64, false, {}});
  // Whole numbers may be counts, and Python's ranges and shapes accept only integers.
  for (const auto& [name, value] : task.scalars)
    parameters.push_back({name, ParameterKind::scalar,
                          value == std::trunc(value) ? DType::i64 : DType::f64, false, value});
  return EntryPlan{task.entry, std::nullopt, std::move(parameters)};
}

double most_of(DType type) {
  switch (type) {
    case DType::i8:
      return std::numeric_limits<std::int8_t>::max();
    case DType::u8:
      return std::numeric_limits<std::uint8_t>::max();
    case DType::i16:
      return std::numeric_limits<std::int16_t>::max();
    case DType::u16:
      return std::numeric_limits<std::uint16_t>::max();
    case DType::i32:
      return std::numeric_limits<std::int32_t>::max();
    case DType::u32:
      return std::numeric_limits<std::uint32_t>::max();
    case DType::boolean:
      return 1;
    default:
      return 9007199254740992.0;  // 2^53: scalars travel as double
  }
}

}  // namespace ratchet
