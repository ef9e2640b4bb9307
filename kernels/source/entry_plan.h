#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

// The entry function of a run and its parameters. Pure and thread-safe. Errors: `invalid_argument`
// naming the field or the parameter, the rule and the value seen.

struct EntryPlan {
  std::string entry;
  std::optional<Launch> launch;  ///< set for device-only kernels
  std::vector<Parameter> parameters;
};

/// The entry of a compiled source, read from its signature. A CUDA kernel is device-only if it has
/// a `// launch:` line or its task has `launch`; its entry is then the `__global__` function of
/// that name (or the only one, if the name is the default). Dims that are not parameters follow the
/// parameters.
[[nodiscard]] Result<EntryPlan> compiled_entry(const TaskRequest& task, const Source& kernel,
                                               Language language);

/// The same before anything is assigned: parameters as the signature has them, no dims beyond.
[[nodiscard]] Result<EntryPlan> entry_as_written(const TaskRequest& task, const Source& kernel,
                                                 Language language);

/// The entry of a Python kernel, which is called with keyword arguments: tensors, dims, scalars.
[[nodiscard]] Result<EntryPlan> python_entry(const TaskRequest& task, const Source& kernel);

/// The largest value of a scalar of this C parameter type. Sizes of 8 bytes are not bound by it.
[[nodiscard]] double most_of(DType type);

}  // namespace ratchet
