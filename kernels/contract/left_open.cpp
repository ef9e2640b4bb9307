#include "kernels/contract/left_open.h"

#include <algorithm>

#include "kernels/process/python_inputs.h"

namespace ratchet {

bool may_be_given(const TaskRequest& task) {
  return task.tensors.empty() || std::ranges::any_of(task.tensors, [](const TensorSpec& tensor) {
           return tensor.role != Role::out &&
                  (tensor.init == TensorSpec{}.init || tensor.init == kGivenInit);
         });
}

bool leaves_device_open(const TaskRequest& task, const Source& kernel) {
  return task.implementation.value_or("auto") == "auto" && kernel.file_name.ends_with(".py");
}

bool leaves_extents_open(const TaskRequest& task, Implementation implementation,
                         const Source& reference) {
  const auto& first = task.cases.empty() ? task.dims : task.cases.front().dims;
  const bool runs_here =
      reference.file_name.ends_with(".py") || device_kind_of(implementation) == DeviceKind::host;
  return task.tensors.empty() && task.ptr_size == 0 && !is_python(implementation) &&
         std::max(task.dims.size(), first.size()) > 1 && runs_here;
}

}  // namespace ratchet
