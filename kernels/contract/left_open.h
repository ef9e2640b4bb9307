#pragma once

#include "kernels/build/target.h"
#include "server/facts/contract.h"
#include "server/facts/task.h"

namespace ratchet {

// What a task leaves to the machine that plans it. Pure and thread-safe.

/// Whether a function of the user may make any input of the task.
[[nodiscard]] bool may_be_given(const TaskRequest& task);

/// Whether the kernel runs wherever torch or numpy do, and the caller does not say where.
[[nodiscard]] bool leaves_device_open(const TaskRequest& task, const Source& kernel);

/// Whether only the reference knows how large buffers are. With one size they have that size.
[[nodiscard]] bool leaves_extents_open(const TaskRequest& task, Implementation implementation,
                                       const Source& reference);

}  // namespace ratchet
