#pragma once

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

/// Refuses a dim that nothing reads: its name is probably misspelled. Pure.
[[nodiscard]] Status check_dims_used(const Contract& contract, const TaskRequest& task);

}  // namespace ratchet
