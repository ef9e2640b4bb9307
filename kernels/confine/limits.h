#pragma once

#include "kernels/confine/profile.h"

namespace ratchet::confine {

/// Resource limits of the profile, no core dump, and the first place in the queue when memory runs
/// out. `counts_processes`: the limit on processes counts those of this process alone, because its
/// user or user namespace is its own. Memory and file sizes are limited by who starts the process.
void limit_resources(const Profile& profile, bool counts_processes);

/// To be called before a private root hides /proc: makes this process the first to be ended when
/// the machine runs out of memory.
void volunteer_for_out_of_memory();

}  // namespace ratchet::confine
