#pragma once

#include <string>
#include <vector>

namespace ratchet::worker {

/// What a process may still reach in the file system.
struct FileAccess {
  std::vector<std::string>
      readable;  ///< files, and folders with all below; may be executed (mapped)
  std::vector<std::string> writable;  ///< read and write
};

/// Restricts this process and its threads for good; paths that do not exist are left out.
/// Returns why not when the kernel has no Landlock or refuses; empty when it is on.
/// no_new_privs must be set before.
[[nodiscard]] std::string restrict_files(const FileAccess& access);

}  // namespace ratchet::worker
