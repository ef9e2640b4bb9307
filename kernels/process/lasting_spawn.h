#pragma once

#include "server/core/process.h"
#include "server/core/result.h"

namespace ratchet {

/// Process::spawn by a thread that lasts as long as this program: the child may outlive the thread
/// that asks for it, as idle processes do that one call leaves for the next. Thread-safe.
[[nodiscard]] Result<Process> spawn_to_last(const ProcessSpec& spec);

}  // namespace ratchet
