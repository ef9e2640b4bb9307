#pragma once

#include "server/core/result.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

/// Holds a contract that another machine made of a task against the task: planned again here, it
/// must come out the same in every value. The other machine decides its device's name and, where
/// the task gives none, the target, and what planning has to run code for: the shapes that only the
/// reference tells, and the tensors and scalars that a function of inputs makes, if the task has
/// none. Tolerances, sizes, weights and the judge's rules are never its own.
///
/// Pure and thread-safe: no files, no devices. `planned` has the caller's sources already; `lab` is
/// not compared. Error: `invalid_argument` naming the first value that differs, and both.
[[nodiscard]] Status check_planned_there(const Contract& planned, const TaskRequest& task);

}  // namespace ratchet
