#pragma once

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

/// What went wrong with a compiled kernel that a caller gives beside a problem, in terms of the
/// problem: where the entry's parameters are not the problem's, the error says so and the hint what
/// they are. Any other error stays as it is. `contract` as far as it was planned. Pure.
[[nodiscard]] Error explained_by_problem(Error error, const Contract& contract,
                                         const TaskRequest& task);

}  // namespace ratchet
