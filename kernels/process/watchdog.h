#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

#include "kernels/process/control_group.h"
#include "server/facts/correctness.h"

namespace ratchet {

/// 0 if the process has ended.
[[nodiscard]] std::size_t resident_bytes_of(pid_t process);

/// What a process and all that it started use beyond `limits`, as far as the system itself does not
/// limit it: `group` is the one that they are in, or null. Memory that several processes share
/// counts for each of them. Looks at all processes of the machine; to be asked now and then.
[[nodiscard]] std::optional<Fault> excess_of(pid_t process, const GroupLimits& limits,
                                             const ControlGroup* group);

}  // namespace ratchet
