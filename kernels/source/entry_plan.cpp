#include "kernels/source/entry_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
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
          "Give a whole number that this type can hold; one beyond 2^53 is a size: name it in "
          "dims, "
          "with a line `NAME == VALUE` in where.");
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

/// Whether a line of the source's top level binds the name.
bool defines(std::string_view text, std::string_view name) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool imports = line.starts_with("from ") || line.starts_with("import ");
    for (const std::string_view keyword : {"def ", "class "})
      if (line.starts_with(keyword)) line.remove_prefix(keyword.size());
    auto at = imports ? line.find(name) : line.starts_with(name) ? 0 : std::string_view::npos;
    for (; at != std::string_view::npos;
         at = imports ? line.find(name, at + 1) : std::string_view::npos)
      if ((at == 0 || !word(line[at - 1])) &&
          (at + name.size() == line.size() || !word(line[at + name.size()])))
        return true;
  }
  return false;
}

/// The class or function that a module or function task calls.
Result<std::string> named_symbol(const TaskRequest& task, const Source& kernel) {
  const bool module = *task.call == CallStyle::module;
  std::vector<std::string> names{task.entry};
  if (task.entry == TaskRequest{}.entry)
    names = module ? std::vector<std::string>{"ModelNew"}
                   : std::vector<std::string>{"run", "custom_kernel"};
  for (const auto& name : names)
    if (defines(kernel.text, name)) return name;
  return invalid_argument(
      fmt::format("{}: the {} {} is not defined", kernel.file_name, module ? "class" : "function",
                  fmt::join(names, " or ")),
      module ? "Define class ModelNew(torch.nn.Module), or name the class in entry."
             : "Define it at the top of the file, or name the function in entry.");
}

/// The entry as the contract names it. That of `run_kernel` has always been the default's name.
Result<std::string> python_symbol(const TaskRequest& task, const Source& kernel) {
  if (task.call && has_signature(*task.call)) return named_symbol(task, kernel);
  if (kernel.text.find("def run_kernel") != std::string::npos) return task.entry;
  return invalid_argument(
      fmt::format("{}: the function run_kernel is not defined", kernel.file_name),
      "Define run_kernel with the names of the tensors, dims and scalars that it uses as "
      "parameters (all are passed by keyword); it writes its outputs in place or returns them. For "
      "a torch module or another function, give call and signature.");
}

}  // namespace

Result<EntryPlan> entry_as_written(const TaskRequest& task, const Source& kernel,
                                   Language language) {
  EntryPlan plan;
  plan.entry = task.entry;
  const bool cuda = language == Language::cuda;
  const auto line = cuda ? launch_line(kernel.text) : Result<std::optional<Launch>>(std::nullopt);
  if (!line) return line.error();
  plan.launch = *line ? *line : task.launch;
  if (plan.launch && !cuda)
    return invalid_argument("launch: a kernel for the processor is called, not launched on a GPU",
                            "Leave `launch` out.");
  if (plan.launch) plan.entry = device_entry(task, kernel);
  auto signature =
      parse_signature(kernel.text, plan.entry, {language, task.flags, plan.launch.has_value()});
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

Result<EntryPlan> compiled_entry(const TaskRequest& task, const Source& kernel, Language language) {
  auto plan = entry_as_written(task, kernel, language);
  if (!plan) return plan;
  if (const auto filled = fill_scalars(plan->parameters, task); !filled) return filled.error();
  if (plan->launch)
    for (const auto& name : other_dims(plan->parameters, task))
      plan->parameters.push_back({name, ParameterKind::dim, DType::i64, false, {}});
  return plan;
}

Result<EntryPlan> python_entry(const TaskRequest& task, const Source& kernel) {
  const auto entry = python_symbol(task, kernel);
  if (!entry) return entry.error();
  std::vector<Parameter> parameters;
  for (const auto& tensor : task.tensors)
    parameters.push_back(
        {tensor.name, ParameterKind::tensor, tensor.dtype, tensor.role == Role::in, {}});
  const auto& dims = task.dims.empty() && !task.cases.empty() ? task.cases[0].dims : task.dims;
  for (const auto& [name, value] : dims)
    parameters.push_back({name, ParameterKind::dim, DType::i64, false, {}});
  // Whole numbers may be counts, and Python's ranges and shapes accept only integers.
  for (const auto& [name, value] : task.scalars) {
    const bool whole = value == std::trunc(value) && std::abs(value) <= most_of(DType::i64);
    parameters.push_back(
        {name, ParameterKind::scalar, whole ? DType::i64 : DType::f64, false, value});
  }
  return EntryPlan{*entry, std::nullopt, std::move(parameters)};
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
