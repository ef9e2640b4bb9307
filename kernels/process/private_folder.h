#pragma once

#include <filesystem>
#include <utility>

#include "server/core/fd.h"
#include "server/core/result.h"
#include "server/core/storage.h"

namespace ratchet {

/// An empty folder with mode 0700 for one child process, or several of one trust; the destructor
/// removes it with its content. If the server runs as root, the folder's owner is a user that
/// nobody else has, and the untrusted processes that work in it become that user
/// (confine/identity.h). Move-only.
///
/// The server holds a lock on the folder, which the system releases when the server dies: a folder
/// of such a name without one was left by a killed server.
class PrivateFolder {
 public:
  /// Errors: `unavailable` when `parent` is not writable.
  static Result<PrivateFolder> make_in(const std::filesystem::path& parent);
  /// In the system's temporary folder.
  static Result<PrivateFolder> make();

  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  PrivateFolder(std::filesystem::path path, Fd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  Fd lock_;
};

/// Where `PrivateFolder::make` makes folders.
[[nodiscard]] std::filesystem::path temporary_folder();

/// Removes the folders in `parent` that killed servers left; with `dry_run` only counts them.
/// Others' folders, and those that cannot be removed, stay.
FileCount remove_abandoned(const std::filesystem::path& parent, bool dry_run);

}  // namespace ratchet
