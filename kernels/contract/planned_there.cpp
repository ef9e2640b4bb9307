#include "kernels/contract/planned_there.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/build/target.h"
#include "kernels/contract/left_open.h"
#include "kernels/contract/planner.h"
#include "kernels/process/python_inputs.h"
#include "kernels/source/entry_plan.h"
#include "server/core/fields.h"
#include "server/core/origin.h"

namespace ratchet {
namespace {

constexpr std::size_t kShownOfPlan = 200;  // bytes of a name or a value in a message
constexpr std::string_view kNameOfPlan =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/";

std::string shown_of_plan(const Json& value) {
  const auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > kShownOfPlan ? text.substr(0, kShownOfPlan) + " …" : text;
}

/// The first place where both differ, and what is there.
Status same_plan(const Json& ours, const Json& theirs) {
  const auto changes = Json::diff(ours, theirs);
  if (changes.empty()) return {};
  const auto& first = changes.front();
  auto path = first.at("path").get<std::string>();
  const auto mine =
      first.at("op") == "add" ? "none" : shown_of_plan(ours.at(Json::json_pointer(path)));
  const auto other = first.at("op") == "remove" ? "none" : shown_of_plan(first.at("value"));
  if (path.ends_with("/-")) path.resize(path.size() - 2);  // one more than here
  // A size may have any name that the other machine made up.
  path.resize(std::min({path.find_first_not_of(kNameOfPlan), kShownOfPlan, path.size()}));
  return invalid_argument(
      fmt::format("{}: the task makes it {}, and the contract that came back says {}",
                  path.substr(1), mine, behind_fence(other)),
      "A lab that changes a task cannot be trusted with it: give the run another lab, or install "
      "the same ratchet there again.");
}

/// What the machine found by running the reference: the shapes, and nothing else of a tensor.
Status take_extents(TaskRequest& task, const Contract& planned, Implementation implementation) {
  const auto entry = entry_as_written(task, planned.kernel, language_of(implementation));
  if (!entry) return entry.error();
  for (const auto& parameter : entry->parameters) {
    if (parameter.kind != ParameterKind::tensor) continue;
    const auto there = std::ranges::find(planned.tensors, parameter.name, &TensorSpec::name);
    if (there == planned.tensors.end()) continue;
    task.tensors.push_back({parameter.name, parameter.dtype, there->shape,
                            parameter.is_const ? Role::in : Role::out, TensorSpec{}.init});
  }
  return {};
}

/// What the machine found by running the function that makes the inputs.
void take_given(TaskRequest& task, const Contract& planned) {
  const bool listed = !task.tensors.empty();
  for (const auto& there : planned.tensors) {
    if (!listed) {
      task.tensors.push_back({there.name, there.dtype, there.shape,
                              there.role == Role::in ? Role::in : Role::out,
                              std::string(kGivenInit)});
      continue;
    }
    const auto asked = std::ranges::find(task.tensors, there.name, &TensorSpec::name);
    if (asked == task.tensors.end() || asked->role == Role::out) continue;
    if (asked->init == TensorSpec{}.init && there.init == kGivenInit) asked->init = kGivenInit;
  }
  for (const auto& parameter : planned.parameters)
    if (parameter.kind == ParameterKind::scalar && parameter.value)
      task.scalars.emplace(parameter.name, *parameter.value);
}

/// The contract as it is planned here, with what only the other machine knows.
Result<Contract> planned_again(const Contract& planned, TaskRequest task) {
  if (leaves_device_open(task, planned.kernel) &&
      planned.implementation == Implementation::host_python)
    task.implementation = std::string(name_of(Implementation::host_python));
  const auto implementation = implementation_of_run(task.implementation, planned.kernel.file_name);
  if (!implementation) return implementation.error();
  const bool made = inputs_function(planned.kernel, planned.reference).has_value();
  if (!made && leaves_extents_open(task, *implementation, planned.reference)) {
    if (auto taken = take_extents(task, planned, *implementation); !taken) return taken.error();
  } else if (made && may_be_given(task)) {
    take_given(task, planned);
  }
  DeviceInfo device;
  device.kind = device_kind_of(*implementation);
  device.index = task.device;
  device.name = planned.device_name;
  if (!task.arch) device.arch = planned.arch;
  return plan_contract(task, planned.kernel, planned.reference, device);
}

}  // namespace

Status check_planned_there(const Contract& planned, const TaskRequest& task) {
  auto here = planned_again(planned, task);
  if (!here) return here.error().at("its contract cannot be that of the task");
  here->lab = planned.lab;
  return same_plan(encode(*here), encode(planned));
}

}  // namespace ratchet
