#include "kernels/process/python_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace ratchet {
namespace {

constexpr std::uint64_t kMostSeed = 0x7fffffff;  // numpy's seeds end at 32 bits

/// Samples of one extent: its value, and its value with each dim doubled.
struct Extent {
  std::int64_t value = 0;
  std::vector<std::pair<std::string, std::int64_t>> doubled;
};

/// c, or c * a * b …: doubling a dim multiplies it by a power of two.
std::optional<std::string> as_product(const Extent& extent, const Dims& dims) {
  std::int64_t rest = extent.value;
  std::string text;
  for (const auto& [dim, value] : extent.doubled) {
    if (value % extent.value != 0) return std::nullopt;
    const auto ratio = static_cast<std::uint64_t>(value / extent.value);
    if (!std::has_single_bit(ratio)) return std::nullopt;
    for (int power = std::countr_zero(ratio); power > 0; --power) {
      if (rest % dims.at(dim) != 0) return std::nullopt;
      rest /= dims.at(dim);
      text += (text.empty() ? "" : "*") + dim;
    }
  }
  if (text.empty()) return std::to_string(extent.value);
  return rest == 1 ? text : fmt::format("{}*{}", rest, text);
}

/// a * dim + c, for the one dim it depends on.
std::optional<std::string> as_line(const Extent& extent, const Dims& dims) {
  const auto moved = [&](const auto& one) { return one.second != extent.value; };
  if (std::ranges::count_if(extent.doubled, moved) != 1) return std::nullopt;
  const auto& [dim, value] = *std::ranges::find_if(extent.doubled, moved);
  const auto growth = value - extent.value;
  if (growth % dims.at(dim) != 0) return std::nullopt;
  const auto slope = growth / dims.at(dim);
  return fmt::format("{}*{} + {}", slope, dim, extent.value - slope * dims.at(dim));
}

/// Whether a module has the function, as text.
bool defines(std::string_view text, std::string_view name) {
  const auto head = fmt::format("def {}(", name);
  return text.starts_with(head) || text.find("\n" + head) != std::string_view::npos;
}

}  // namespace

std::optional<InputsFunction> inputs_function(const Source& kernel, const Source& reference) {
  if (reference.file_name.ends_with(".py") && defines(reference.text, "inputs"))
    return InputsFunction{reference, "inputs", true};
  if (kernel.file_name.ends_with(".py") && defines(kernel.text, "setup"))
    return InputsFunction{kernel, "setup", false};
  return std::nullopt;
}

std::int64_t inputs_seed(std::string_view seed) {
  const auto drawn = std::stoull(std::string(seed.substr(0, 8)), nullptr, 16);
  return static_cast<std::int64_t>(drawn & kMostSeed);
}

Result<PythonInputs> PythonInputs::open(PythonForkServer& python, const InputsFunction& function,
                                        std::optional<int> cuda_device,
                                        std::chrono::milliseconds deadline,
                                        const CallContext& call) {
  auto spec = python.server_spec("inputs", function.source.text);
  if (!cuda_device) spec.environment.emplace_back("CUDA_VISIBLE_DEVICES=");  // it makes no context
  auto process = WorkerProcess::start(spec, call);
  if (!process) return process.error();
  PythonInputs inputs(*std::move(process), function, deadline);
  Json plan{{"file_name", function.source.file_name},
            {"text", function.source.text},
            {"folder", function.source.folder},
            {"function", function.name},
            {"scalars", function.scalars},
            {"cuda_device", nullptr}};
  if (cuda_device) plan["cuda_device"] = *cuda_device;
  if (auto loaded = inputs.ask({{"load", std::move(plan)}}, {}, call); !loaded)
    return loaded.error();
  return inputs;
}

Result<PythonInputs::Made> PythonInputs::describe(const Dims& dims, const CallContext& call) {
  auto answer = ask({{"describe", {{"dims", dims}}}}, {}, call);
  if (!answer) return answer.error();
  return decode_stored<Made>(*answer);
}

Result<TaskRequest> PythonInputs::described(TaskRequest task,
                                            const std::vector<Parameter>& parameters,
                                            const CallContext& call) {
  Dims dims = task.cases.empty() ? Dims{} : task.cases.front().dims;
  dims.insert(task.dims.begin(), task.dims.end());
  auto made = describe(dims, call);
  if (!made) return made.error();
  std::vector<Probe> probes;
  for (const auto& [name, value] : dims) {
    Dims doubled = dims;
    doubled[name] = 2 * value;
    if (!task.tensors.empty()) break;
    auto probe = describe(doubled, call);
    if (!probe) return probe.error();
    probes.push_back({name, *std::move(probe)});
  }
  const bool listed = !task.tensors.empty();
  for (auto& tensor : task.tensors) {
    const bool makes =
        std::ranges::find(made->tensors, tensor.name, &Tensor::name) != made->tensors.end();
    if (makes && tensor.role != Role::out && tensor.init == TensorSpec{}.init)
      tensor.init = kGivenInit;
  }
  for (const auto& tensor : made->tensors) {
    if (listed) break;
    auto role = role_of(tensor, *made, parameters);
    if (!role) return role.error();
    auto shape = shape_of(tensor, dims, probes);
    if (!shape) return shape.error();
    task.tensors.push_back(
        {tensor.name, tensor.dtype, *std::move(shape), *role, std::string(kGivenInit)});
  }
  for (const auto& parameter : parameters)
    if (parameter.kind == ParameterKind::tensor && !listed &&
        std::ranges::find(made->tensors, parameter.name, &Tensor::name) == made->tensors.end())
      return Error{ErrorCode::invalid_argument,
                   fmt::format("{}: {} makes nothing called {}, which the entry takes",
                               function_.source.file_name, function_.name, parameter.name),
                   parameter.is_const ? "Return it, too, or give `tensors`."
                                      : "Return an empty array of its shape, too, and name it in "
                                        "outputs, or give `tensors`."};
  if (auto added = add_scalars(task, dims, *made, probes, parameters); !added) return added.error();
  return task;
}

Result<Role> PythonInputs::role_of(const Tensor& tensor, const Made& made,
                                   const std::vector<Parameter>& parameters) const {
  if (std::ranges::find(made.outputs, tensor.name) != made.outputs.end()) return Role::out;
  if (!made.outputs.empty()) return Role::in;
  const auto parameter = std::ranges::find(parameters, tensor.name, &Parameter::name);
  if (parameter != parameters.end()) return parameter->is_const ? Role::in : Role::out;
  if (!parameters.empty()) return Role::in;
  return Error{ErrorCode::invalid_argument,
               fmt::format("{}: {} does not say which tensors are outputs",
                           function_.source.file_name, function_.name),
               "Return {\"inputs\": {...}, \"outputs\": [names]}."};
}

Status PythonInputs::add_scalars(TaskRequest& task, const Dims& dims, const Made& made,
                                 const std::vector<Probe>& probes,
                                 const std::vector<Parameter>& parameters) const {
  for (const auto& [name, value] : made.scalars) {
    const bool wanted = parameters.empty() ||
                        std::ranges::find(parameters, name, &Parameter::name) != parameters.end();
    if (dims.contains(name) || !wanted) continue;
    for (const auto& probe : probes)
      if (const auto other = probe.made.scalars.find(name);
          other == probe.made.scalars.end() || other->second != value)
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("{}: inputs() returns another value of the number {} for other sizes of {}",
                        function_.source.file_name, name, probe.dim),
            "Give it as one of `dims`."};
    task.scalars.emplace(name, value);
  }
  return {};
}

Result<std::vector<std::string>> PythonInputs::shape_of(const Tensor& tensor, const Dims& dims,
                                                        const std::vector<Probe>& probes) const {
  const auto unclear = [&](std::size_t axis) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: cannot derive extent {} of {} from the dims",
                             function_.source.file_name, axis, tensor.name),
                 "Give `tensors` with their shapes."};
  };
  std::vector<std::string> shape;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    Extent extent{tensor.shape[axis], {}};
    if (extent.value < 1) return unclear(axis);
    for (const auto& probe : probes) {
      const auto same = std::ranges::find(probe.made.tensors, tensor.name, &Tensor::name);
      if (same == probe.made.tensors.end() || same->shape.size() != tensor.shape.size())
        return unclear(axis);
      extent.doubled.emplace_back(probe.dim, same->shape[axis]);
    }
    auto text = as_product(extent, dims);
    if (!text) text = as_line(extent, dims);
    if (!text) return unclear(axis);
    shape.push_back(*std::move(text));
  }
  return shape;
}

Status PythonInputs::fill(const Dims& dims, const wire::ArenaLayout& layout,
                          const std::vector<std::string>& names, std::string_view seed,
                          const MemoryFile& arena, const CallContext& call) {
  const Json plan{
      {"dims", dims}, {"layout", encode(layout)}, {"seed", inputs_seed(seed)}, {"names", names}};
  const int descriptor = arena.fd();
  auto filled = ask({{"fill", plan}}, {&descriptor, 1}, call);
  return filled ? Status{} : Status(filled.error());
}

Result<Json> PythonInputs::ask(const Json& question, std::span<const int> descriptors,
                               const CallContext& call) {
  const auto failed = [&](const std::string& message, int line) {
    const auto& file = function_.source.file_name;
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{} of {}{}: {}", function_.name, file,
                             line > 0 ? fmt::format(":{}", line) : "", behind_fence(message)),
                 fmt::format("Fix {} in {}.", function_.name, file)};
  };
  auto answer = process_.ask(question, descriptors, deadline_, call);
  if (!answer) return answer.error();
  if (answer->fault) return failed(answer->fault->kind + ": " + answer->fault->message, 0);
  if (const auto failure = answer->body.find("failed"); failure != answer->body.end())
    return failed(failure->value("message", ""), failure->value("line", 0));
  return std::move(answer->body);
}

}  // namespace ratchet
