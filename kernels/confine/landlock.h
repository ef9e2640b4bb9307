#pragma once

#include <string>
#include <vector>

namespace ratchet::confine {

/// The files that a process may still access.
struct FileAccess {
  /// Files, and folders with everything below; read and execute (map).
  std::vector<std::string> readable;
  std::vector<std::string> writable;  ///< read and write; devices also by ioctl
};

/// How a wall was set up.
struct Outcome {
  bool held = false;
  std::string text;  ///< "Landlock 7" if it holds, else "no Landlock (the reason)"
};

/// The version of the kernel's Landlock; 0 if it has none.
[[nodiscard]] long landlock_version();

/// Restricts this thread, and the threads and processes that it creates, permanently; paths that do
/// not exist are ignored. `isolated`: also no TCP, no abstract sockets of other processes and no
/// signals to them, as far as the kernel's Landlock has such rules. no_new_privs must be set
/// before.
[[nodiscard]] Outcome restrict_files(const FileAccess& access, bool isolated);

}  // namespace ratchet::confine
