#pragma once

#include <filesystem>
#include <utility>

#include "server/core/result.h"

namespace ratchet {

/// An empty folder with mode 0700 for one child process; the destructor removes it with its
/// content. Move-only.
class PrivateFolder {
 public:
  /// Where the server runs as root, the folder is given to the user `nobody`, whom host workers
  /// become. Errors: `unavailable` when the system's temporary folder refuses.
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
