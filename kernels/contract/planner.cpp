#include "kernels/contract/planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/build/build_flags.h"
#include "kernels/contract/call_signature.h"
#include "kernels/contract/compiled_reference.h"
#include "kernels/contract/dims_used.h"
#include "kernels/contract/input_init.h"
#include "kernels/contract/layout.h"
#include "kernels/contract/problem_entry.h"
#include "kernels/contract/tolerance.h"
#include "kernels/contract/where.h"
#include "kernels/contract/work.h"
#include "kernels/process/python_inputs.h"
#include "kernels/source/entry_plan.h"
#include "kernels/source/expression.h"
#include "kernels/source/launch.h"
#include "kernels/source/signature.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

/// Default number of elements of a buffer; figures of the kernel-profile package.
constexpr std::int64_t kDefaultElements = 1'048'576;
constexpr std::int64_t kMostInferredElements = 268'435'456;

Error inside(std::string_view where, const Error& error) {
  return Error{error.code, fmt::format("{}: {}", where, error.message), error.hint};
}

bool is_identifier(std::string_view name) {
  const auto word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, word);
}

// ----------------------------------------------------------------------------------------- cases

Status check_case(const Case& one, std::size_t index, const std::vector<Parameter>& parameters) {
  std::string missing;
  for (const auto& parameter : parameters) {
    if (parameter.kind != ParameterKind::dim) continue;
    const auto dim = one.dims.find(parameter.name);
    if (dim == one.dims.end())
      missing += (missing.empty() ? "" : ", ") + parameter.name;
    else if (size_of(parameter.dtype) < 8 &&
             static_cast<double>(dim->second) > most_of(parameter.dtype))
      return invalid_argument(
          fmt::format("cases[{}].dims.{}: {} is too large for the type {} of this parameter", index,
                      dim->first, dim->second, name_of(parameter.dtype)),
          "Use a smaller size or a wider parameter type.");
  }
  if (!missing.empty()) {
    std::string given;
    for (const auto& [name, value] : one.dims) given += (given.empty() ? "" : ", ") + name;
    return invalid_argument(fmt::format("dims: no size was given for {}; sizes were given for: {}",
                                        missing, given.empty() ? "none" : given),
                            "Give every integer parameter of the entry a size under the "
                            "parameter's name, or a fixed value in `scalars`.");
  }
  for (const auto& [name, value] : one.dims) {
    if (!is_identifier(name))
      return invalid_argument(fmt::format("dims: \"{}\" is not a valid name", name),
                              "Use letters, digits and _.");
    if (value < 1)
      return invalid_argument(
          fmt::format("cases[{}].dims.{}: a size must be at least 1, got {}", index, name, value),
          "An integer that is no size goes into `scalars`.");
  }
  return {};
}

Result<std::vector<Case>> plan_cases(const TaskRequest& task,
                                     const std::vector<Parameter>& parameters) {
  auto cases = task.cases;
  if (cases.empty()) cases.push_back({});
  double weight = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto& one = cases[i];
    one.dims.insert(task.dims.begin(),
                    task.dims.end());  // common dims, unless the case overrides them
    one.hidden = false;
    if (one.weight < 0 || !std::isfinite(one.weight))
      return invalid_argument(
          fmt::format("cases[{}].weight: must be 0 or more, got {}", i, one.weight),
          "A weight says how much the case counts.");
    weight += one.weight;
    if (const auto checked = check_case(one, i, parameters); !checked) return checked.error();
  }
  if (weight <= 0)
    return invalid_argument("cases: all weights are 0", "Give at least one case a weight.");
  return cases;
}

// --------------------------------------------------------------------------------------- tensors

/// Elements of every buffer if the caller gave no tensors: the packages' rule.
Result<std::string> inferred_extent(const TaskRequest& task,
                                    const std::vector<Parameter>& parameters, const Dims& dims) {
  if (task.ptr_size > 0) return std::to_string(task.ptr_size);
  std::vector<std::pair<std::int64_t, std::string>> sizes;
  for (const auto& parameter : parameters)
    if (parameter.kind == ParameterKind::dim)
      sizes.emplace_back(dims.at(parameter.name), parameter.name);
  if (sizes.empty()) return std::to_string(kDefaultElements);
  std::ranges::stable_sort(sizes, std::greater{}, [](const auto& size) { return size.first; });
  if (sizes.size() == 1) return sizes[0].second;
  const auto extent = sizes[0].second + "*" + sizes[1].second;
  const auto elements = evaluate_integer(extent, dims);
  if (!elements || *elements > kMostInferredElements)
    return Error{ErrorCode::too_large,
                 fmt::format("tensors: without them every buffer would have {} elements, more than "
                             "the {} that are allowed",
                             extent, kMostInferredElements),
                 "Give `tensors` with their shapes."};
  return extent;
}

Result<std::vector<TensorSpec>> infer_tensors(const TaskRequest& task,
                                              const std::vector<Parameter>& parameters,
                                              const Dims& dims) {
  const auto extent = inferred_extent(task, parameters, dims);
  if (!extent) return extent.error();
  std::vector<TensorSpec> tensors;
  for (const auto& parameter : parameters)
    if (parameter.kind == ParameterKind::tensor)
      tensors.push_back({parameter.name,
                         parameter.dtype,
                         {*extent},
                         parameter.is_const ? Role::in : Role::out,
                         "normal"});
  return tensors;
}

/// The given tensors, in the order of the parameters.
Result<std::vector<TensorSpec>> match_tensors(const TaskRequest& task,
                                              const std::vector<Parameter>& parameters) {
  std::vector<TensorSpec> ordered;
  for (const auto& parameter : parameters) {
    if (parameter.kind != ParameterKind::tensor) continue;
    const auto spec = std::ranges::find(task.tensors, parameter.name, &TensorSpec::name);
    if (spec == task.tensors.end())
      return invalid_argument(
          fmt::format("tensors: the pointer parameter {} of the entry is not listed",
                      parameter.name),
          "List every pointer parameter, or leave `tensors` out to have them inferred.");
    if (spec->dtype != parameter.dtype)
      return invalid_argument(
          fmt::format("tensors.{}.dtype: it is {} here, but {} in the signature of the entry",
                      spec->name, name_of(spec->dtype), name_of(parameter.dtype)),
          "Make both types the same.");
    if (parameter.is_const && spec->role != Role::in)
      return invalid_argument(fmt::format("tensors.{}.role: it is {}, but the parameter is a "
                                          "pointer to const, which cannot be written",
                                          spec->name, name_of(spec->role)),
                              "Use the role in, or remove const from the parameter.");
    ordered.push_back(*spec);
  }
  for (const auto& spec : task.tensors) {
    if (std::ranges::count(task.tensors, spec.name, &TensorSpec::name) > 1)
      return invalid_argument(fmt::format("tensors: {} is listed twice", spec.name),
                              "List each tensor once.");
    if (std::ranges::find(ordered, spec.name, &TensorSpec::name) == ordered.end())
      return invalid_argument(fmt::format("tensors: the entry has no pointer named {}", spec.name),
                              "Use the parameter's name.");
  }
  return ordered;
}

/// Outputs that start at zero are written and, before every call, restored like an inout.
Status start_at_zero(std::vector<TensorSpec>& tensors, const TaskRequest& task) {
  for (const auto& name : task.accumulate) {
    const auto tensor = std::ranges::find(tensors, name, &TensorSpec::name);
    if (tensor == tensors.end())
      return invalid_argument(fmt::format("accumulate: there is no tensor {}", name),
                              "Name an output.");
    if (tensor->role == Role::in)
      return invalid_argument(
          fmt::format("accumulate: {} is an input, and the kernel adds onto outputs", name),
          "Name an output; an input that is always zero would hide errors.");
    tensor->init = kZerosInit;
  }
  for (auto& tensor : tensors) {
    if (trimmed(tensor.init) != kZerosInit) continue;
    if (tensor.role == Role::in)
      return invalid_argument(
          fmt::format("tensors.{}.init: zeros is for outputs, and this is an input", tensor.name),
          "An input that is always zero would hide errors: leave `init` out.");
    tensor.role = Role::inout;
    tensor.init = kZerosInit;
  }
  return {};
}

/// Whoever says that a function makes the inputs has one.
Status check_given(const Contract& contract) {
  const auto given = std::ranges::find(contract.tensors, kGivenInit, &TensorSpec::init);
  if (given == contract.tensors.end() || inputs_function(contract.kernel, contract.reference))
    return {};
  return invalid_argument(
      fmt::format("tensors.{}.init: given, but {} has no function inputs()", given->name,
                  contract.reference.file_name),
      "Define inputs(**dims, seed) in ref.py, which returns {\"inputs\": {name: array}, "
      "\"outputs\": [names]}, or use another `init`.");
}

Status check_outputs(const Contract& contract) {
  const auto is_output = [](const TensorSpec& tensor) { return tensor.role != Role::in; };
  if (std::ranges::any_of(contract.tensors, is_output)) return {};
  if (contract.tensors.empty() && is_python(contract.implementation)) {
    const bool inputs = contract.reference.text.find("def inputs") != std::string::npos ||
                        contract.kernel.text.find("def setup") != std::string::npos;
    if (inputs) return {};
  }
  return invalid_argument(
      "tensors: no tensor is an output, so there would be nothing to check",
      "Pointers to non-const are outputs; otherwise give `tensors` with role out or inout.");
}

// ------------------------------------------------------------------------------------- reference

/// `name = 1e-3` at the start of a line of ref.py.
std::optional<double> module_number(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    const auto equals = line.find_first_not_of(" \t");
    if (equals == std::string_view::npos || line[equals] != '=') continue;
    line.remove_prefix(equals + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    double value = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), value).ec == std::errc{})
      return value;
  }
  return std::nullopt;
}

constexpr std::string_view kPythonReference =
    "Define reference with the names of the tensors, dims and scalars that it uses as parameters, "
    "in a .py file: it gets torch tensors if the file imports torch, else numpy arrays, and writes "
    "its outputs in place or returns them.";

Status plan_reference(Contract& contract) {
  const auto kind = reference_kind_of(contract.reference.file_name);
  if (!kind) return kind.error();
  contract.reference_kind = *kind;
  if (*kind == ReferenceKind::cuda && contract.device_kind == DeviceKind::host)
    return invalid_argument("reference: a reference in CUDA (.cu) serves only kernels for a GPU",
                            "Use ref.cpp or ref.py.");
  if (*kind != ReferenceKind::python) {
    if (is_python(contract.implementation))
      return invalid_argument("reference: a kernel in Python needs a reference in Python (ref.py)",
                              std::string(kPythonReference));
    return check_compiled_reference(contract);
  }
  if (contract.reference.text.find("def reference") == std::string::npos)
    return invalid_argument(
        fmt::format("{}: the function reference is not defined", contract.reference.file_name),
        std::string(kPythonReference));
  // Tolerances of the call take precedence over those of the module.
  if (!contract.atol) contract.atol = module_number(contract.reference.text, "atol");
  if (!contract.rtol) contract.rtol = module_number(contract.reference.text, "rtol");
  return {};
}

// ------------------------------------------------------------------------------------ the stages

Status plan_target(Contract& contract, const TaskRequest& task, const DeviceInfo& device) {
  const auto implementation = implementation_of_run(task.implementation, contract.kernel.file_name);
  if (!implementation) return implementation.error();
  contract.implementation = *implementation;
  contract.device_kind = device_kind_of(*implementation);
  if (device.kind != contract.device_kind)
    return invalid_argument(
        fmt::format("device: {} is a {} device, but {} kernels need a {} device", device.name,
                    name_of(device.kind), name_of(*implementation), name_of(contract.device_kind)),
        "check_env lists the devices.");
  const auto arch = resolve_arch(task.arch, device, contract.kernel.text);
  if (!arch) return arch.error();
  contract.arch = *arch;
  contract.device = device.index;
  contract.device_name = device.name;
  if (!is_identifier(task.entry))
    return invalid_argument(fmt::format("entry: \"{}\" is not a function name", task.entry),
                            "Default: solve.");
  if (task.call && (*task.call == CallStyle::solve) == is_python(*implementation))
    return invalid_argument(
        fmt::format("call: {} is {}, and {} is {}", name_of(*task.call),
                    *task.call == CallStyle::solve ? "for C++ and CUDA" : "for Python",
                    contract.kernel.file_name, name_of(*implementation)),
        is_python(*implementation) ? "Use run_kernel, module or function."
                                   : "Use solve, or leave call out.");
  contract.entry = task.entry;
  contract.flags = task.flags;
  return check_flags(task.flags, language_of(*implementation));
}

/// All buffers of one case are on the device at the same time.
Status check_memory(const wire::ArenaLayout& layout, const DeviceInfo& device) {
  if (device.memory_bytes <= 0 || layout.bytes <= device.memory_bytes) return {};
  return Error{ErrorCode::too_large,
               fmt::format("the buffers of one case need {:.1f} GiB, but {} has only {:.1f} GiB",
                           std::ldexp(static_cast<double>(layout.bytes), -30), device.name,
                           std::ldexp(static_cast<double>(device.memory_bytes), -30)),
               "Use smaller dims, or give `tensors` with their shapes."};
}

/// Every given case keeps the relations, so there is at least one size that does.
Status plan_relations(Contract& contract, const TaskRequest& task) {
  if (task.where.empty()) return {};
  contract.where = task.where;
  for (std::size_t i = 0; i < task.where.size(); ++i)
    for (std::size_t k = 0; k < contract.cases.size(); ++k) {
      const auto names = names_in(contract, contract.cases[k].dims);
      const auto kept = holds(task.where[i], names);
      if (!kept) return inside(fmt::format("where[{}]", i), kept.error());
      if (!*kept)
        return invalid_argument(fmt::format("where[{}]: \"{}\" does not hold for cases[{}] ({})", i,
                                            task.where[i], k, dims_text(names)),
                                "Give sizes that keep every relation, or change the relation.");
    }
  return {};
}

Status plan_buffers(Contract& contract, const TaskRequest& task, const DeviceInfo& device) {
  const auto entry =
      is_python(contract.implementation)
          ? python_entry(task, contract.kernel)
          : compiled_entry(task, contract.kernel, language_of(contract.implementation));
  if (!entry) return entry.error();
  contract.entry = entry->entry;
  contract.launch = entry->launch;
  contract.parameters = entry->parameters;
  const auto cases = plan_cases(task, contract.parameters);
  if (!cases) return cases.error();
  contract.cases = *cases;
  const auto tensors = task.tensors.empty()
                           ? infer_tensors(task, contract.parameters, contract.cases[0].dims)
                           : match_tensors(task, contract.parameters);
  if (!tensors) return tensors.error();
  contract.tensors = *tensors;
  if (const auto zeroed = start_at_zero(contract.tensors, task); !zeroed) return zeroed.error();
  if (const auto made = check_given(contract); !made) return made.error();
  if (const auto called = plan_call(contract, task); !called) return called;
  if (const auto kept = plan_relations(contract, task); !kept) return kept.error();
  if (const auto used = check_dims_used(contract, task); !used) return used;
  for (std::size_t i = 0; i < contract.cases.size(); ++i) {
    const auto layout = layout_of(contract, contract.cases[i].dims);
    if (!layout) return inside(fmt::format("cases[{}]", i), layout.error());
    if (const auto fits = check_memory(*layout, device); !fits)
      return inside(fmt::format("cases[{}]", i), fits.error());
    if (!contract.launch) continue;
    if (const auto fits = check_launch(*contract.launch, contract.cases[i].dims); !fits)
      return inside(fmt::format("cases[{}]", i), fits.error());
  }
  return {};
}

Status plan_work(Contract& contract, const TaskRequest& task) {
  contract.work = task.work;
  if (contract.work && !contract.work->type)
    contract.work->type = fastest_arithmetic(contract.tensors);
  for (const auto& one : contract.cases) {
    const auto work = work_of(contract, one.dims);
    if (!work) return inside("work", work.error());
  }
  return {};
}

Status plan_baselines(Contract& contract, const TaskRequest& task) {
  const auto baselines = resolve_baselines(task.baselines);
  if (!baselines) return baselines.error();
  contract.baselines = *baselines;
  const bool torch = contract.reference_kind == ReferenceKind::python &&
                     contract.reference.text.find("import torch") != std::string::npos;
  if (task.baselines.empty() && torch) contract.baselines = {"pytorch-eager"};
  return {};
}

}  // namespace

Result<Contract> plan_contract(const TaskRequest& task, const Source& kernel,
                               const Source& reference, const DeviceInfo& device) {
  Contract contract;
  contract.kernel = kernel;
  contract.reference = reference;
  contract.problem = task.problem.value_or("");
  contract.kernel_name = kernel_name_of(task.problem.value_or(kernel.file_name));
  contract.iterations = task.iterations;
  contract.seed_given = task.seed.has_value();
  contract.any_size = task.any_size.value_or(false);
  if (const auto status = plan_tolerances(contract, task); !status) return status.error();
  if (const auto status = plan_target(contract, task, device); !status) return status.error();
  contract.edge_values = task.edge_values;
  contract.judge = JudgeRules{
      .version = 7};  // see allows_for_terms, edge_values_of, same_rules_on_devices, hidden_cases
  if (const auto status = plan_buffers(contract, task, device); !status)
    return explained_by_problem(status.error(), contract, task);
  if (const auto status = plan_reference(contract); !status)
    return explained_by_problem(status.error(), contract, task);
  if (const auto status = check_outputs(contract); !status) return status.error();
  if (const auto status = plan_work(contract, task); !status) return status.error();
  if (const auto status = plan_baselines(contract, task); !status) return status.error();
  return contract;
}

}  // namespace ratchet
