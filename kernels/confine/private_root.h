#pragma once

#include <string>
#include <vector>

#include "kernels/confine/landlock.h"

namespace ratchet::confine {

/// What a private root contains.
struct RootView {
  FileAccess files;              ///< folders that may be written lie on the same disk as outside
  bool other_processes = false;  ///< /proc shows other processes, not only this one
};

/// Moves the process into a mount namespace whose root is empty but for the named files, read-only
/// where they are not writable, and into an IPC namespace. A process that is not root also enters a
/// user namespace of its own, in which it keeps its user.
///
/// Call in a process with one thread. If the system refuses namespaces, nothing has changed. Once
/// the old root is left, a failure ends the process with a line on stderr: its view would be
/// incomplete.
[[nodiscard]] Outcome enter_private_root(const RootView& view);

}  // namespace ratchet::confine
