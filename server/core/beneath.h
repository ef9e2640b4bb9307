#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "server/core/fd.h"
#include "server/core/result.h"

namespace ratchet {

/// A folder held by its descriptor, and files reached beneath it: each component of a name is
/// opened relative to the one before, and none may be a symbolic link or "..". So whoever can write
/// in the folder cannot lead a read or a write out of it, whatever they swap meanwhile.
///
/// The same as openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, which kernels before 5.6 and
/// filters of many containers lack: one way for all is tested on all.
///
/// Thread-safe. Names are relative, "v1/build.md". Errors: `not_found`; `not_permitted` for a
/// symbolic link on the way; `invalid_argument` for a name that is absolute, empty or leads up;
/// `unavailable` for what the system refuses.
class Folder {
 public:
  /// Opens an absolute path whose components are all real folders.
  static Result<Folder> open(const std::filesystem::path& path);
  /// The same, and makes what is missing of it.
  static Result<Folder> make(const std::filesystem::path& path);

  /// Reads a whole regular file. Errors: also `too_large` beyond the limit.
  [[nodiscard]] Result<std::string> read(const std::filesystem::path& name,
                                         std::size_t limit = std::size_t{64} << 20U) const;
  /// Replaces a file atomically, as `write_file` does; makes missing folders.
  [[nodiscard]] Status write(const std::filesystem::path& name, std::string_view bytes) const;
  /// Removes what killed processes left of files that they were writing, here and in the folders
  /// below; files that a living one is writing stay. What cannot be removed stays, too.
  void remove_half_written() const;
  /// Removes a file; one that is missing already is fine.
  [[nodiscard]] Status remove(const std::filesystem::path& name) const;
  /// Moves a file or folder to a name that does not exist yet; makes missing folders.
  [[nodiscard]] Status move(const std::filesystem::path& from,
                            const std::filesystem::path& to) const;

 private:
  /// The folder of a name, opened, and the name's last component.
  struct Place {
    Fd folder;
    std::string name;
  };
  enum class Missing { refused, made };

  Folder(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  static Result<Folder> open(const std::filesystem::path& path, Missing missing);
  static Result<Fd> descend(Fd at, const std::filesystem::path& seen,
                            const std::filesystem::path& names, Missing missing);
  [[nodiscard]] Result<Place> place_of(const std::filesystem::path& name, Missing missing) const;

  Fd fd_;
  std::filesystem::path path_;  ///< for messages
};

/// Makes `path`, or checks that it is a folder of this user that nobody else can change: an
/// existing one must not be a symbolic link, belong to another user or be writable by others; one
/// that others may read is closed to them. For the server's own state.
/// Errors: `not_permitted`; `unavailable`.
[[nodiscard]] Status make_private_folder(const std::filesystem::path& path);

}  // namespace ratchet
