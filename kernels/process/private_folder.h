#pragma once

#include <filesystem>
#include <utility>

#include "server/core/result.h"

namespace ratchet {

/// An empty folder with mode 0700 for one child process, or several of one trust; the destructor
/// removes it with its content. If the server runs as root, the folder's owner is a user that
/// nobody else has, and the untrusted processes that work in it become that user
/// (confine/identity.h). Move-only.
class PrivateFolder {
 public:
  /// Errors: `unavailable` when `parent` is not writable.
  static Result<PrivateFolder> make_in(const std::filesystem::path& parent);
  /// In the system's temporary folder.
  static Result<PrivateFolder> make();

  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace ratchet
