#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/confine/landlock.h"
#include "kernels/confine/profile.h"

namespace ratchet::confine {

/// The walls around one untrusted process, set up by the process itself before foreign code runs in
/// it. They are permanent and are inherited by its threads and by what it starts.
///
///   - the process is not dumpable: no other process of this user can read its memory
///   - started by root: a user of its own, or root without capabilities where a GPU's driver keeps
///   the
///     user that opened it
///   - a private root (private_root.h), Landlock (landlock.h): the system's libraries and what the
///     caller names are read-only, the private folder is writable
///   - limits (limits.h), no_new_privs, a filter of system calls on all threads (syscall_filter.h)
///
/// Which role has which is one table, in profile.cpp. What the system does not support is named as
/// missing. Thread rule: all calls from one thread, the constructor before there are others. It
/// takes RATCHET_GPU_NODE and RATCHET_REQUIRE_SANDBOX out of the environment; with the latter, a
/// caller must not go on when `lacking` tells of a wall.
class Walls {
 public:
  /// `readable`: files and folders beside the system's, such as an interpreter's libraries.
  /// `folder`: the private folder, the only one that may be written; empty: none.
  Walls(Role role, DeviceKind kind, std::vector<std::string> readable, std::string folder);

  [[nodiscard]] const Profile& profile() const { return profile_; }

  /// All but the filter of system calls. In a process that opens a device: before that, unless
  /// `profile().after_device`. The private root needs a process with one thread.
  void enter();
  /// The filter. After the device is open, before foreign code is mapped.
  void seal();

  /// "seccomp on all threads, own user, no capabilities, private root, Landlock 7"; what is missing
  /// follows: "; no Landlock (kernel)".
  [[nodiscard]] std::string text() const;
  /// The walls without which foreign code can reach files or calls that it must not; empty if none
  /// is missing, or if the environment does not require them.
  [[nodiscard]] std::string lacking() const;

 private:
  void note(const Outcome& outcome);
  [[nodiscard]] FileAccess needed_files() const;

  DeviceKind kind_;
  Profile profile_;
  std::vector<std::string> readable_;
  std::string folder_;
  std::optional<std::string> only_gpu_;  ///< the node of the GPU that may be opened; empty: any
  bool required_;
  std::vector<std::string> held_;
  std::vector<std::string> missing_;
  bool files_held_ = false;
  bool calls_held_ = false;
};

}  // namespace ratchet::confine
