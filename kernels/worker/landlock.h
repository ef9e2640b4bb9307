#pragma once

#include <string>
#include <vector>

namespace ratchet::worker {

/// The files that a process may still access.
struct FileAccess {
  /// Files, and folders with everything below; read and execute (map).
  std::vector<std::string> readable;
  std::vector<std::string> writable;  ///< read and write
};

/// Restricts this process and its threads permanently; paths that do not exist are ignored.
/// Returns an empty string on success, else the reason: no Landlock in the kernel, or an error.
/// no_new_privs must be set before.
[[nodiscard]] std::string restrict_files(const FileAccess& access);

}  // namespace ratchet::worker
