#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

// What a run calls and with what. Pure and thread-safe. Errors: `invalid_argument` naming the field
// or the parameter, the rule and the value seen.

struct EntryPlan {
  std::string entry;
  std::optional<Launch> launch;  ///< set for device-only kernels
  std::vector<Parameter> parameters;
};

/// Of a C++ or CUDA source, from its signature. A device-only kernel is one with a `// launch:`
/// line or a task with `launch`: its entry is the `__global__` function of that name (the only one
/// there when the name is the default), and dims that are no parameters follow the parameters.
[[nodiscard]] Result<EntryPlan> compiled_entry(const TaskRequest& task, const Source& kernel,
                                               bool cuda);

/// Of a Python kernel, which is called by keyword: tensors, then dims, then scalars.
[[nodiscard]] Result<EntryPlan> python_entry(const TaskRequest& task, const Source& kernel);

/// Largest value that a C parameter of this type holds.
[[nodiscard]] double most_of(DType type);

}  // namespace ratchet
