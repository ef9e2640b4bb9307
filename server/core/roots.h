#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "server/core/result.h"

namespace ratchet {

/// A user's file, read once.
struct RootFile {
  std::filesystem::path path;  ///< with links resolved; a name only: do not open it again
  std::filesystem::path root;  ///< that holds it
  std::string bytes;
};

/// Where a server may go on behalf of its callers: the folders of `--root`, and never the server's
/// own. Thread-safe.
class Roots {
 public:
  struct Places {
    std::vector<std::filesystem::path> roots;  ///< must exist
    std::filesystem::path state;               ///< closed to callers: it holds keys and secrets
    std::filesystem::path data;                ///< may be read, holds no run
    /// Whether folders for runs must lie inside the roots, too. Not where nobody named roots and
    /// the caller has the user's rights anyway: a local client that starts the server in a folder
    /// of its own.
    bool hold_outputs = true;
  };
  /// Errors: `not_found` naming a root that does not exist.
  static Result<Roots> open(const Places& places);

  /// Reads the file that `path` leads to; symbolic links may lead to any place inside a root. The
  /// file is opened beneath its root, so that a link swapped meanwhile leads nowhere.
  /// Errors: `not_permitted` outside the roots, naming them; those of `Folder::read`.
  [[nodiscard]] Result<RootFile> read(const std::filesystem::path& path, std::size_t limit) const;

  /// The real, absolute path of a folder for a run, which need not exist yet: its nearest existing
  /// parent must lie inside a root, and it must neither be, contain nor lie in the server's own
  /// folders. Errors: `not_permitted`.
  [[nodiscard]] Result<std::filesystem::path> output_folder(
      const std::filesystem::path& path) const;

 private:
  explicit Roots(Places places) : places_(std::move(places)) {}
  /// The root that holds a real path; empty when none does.
  [[nodiscard]] std::filesystem::path root_of(const std::filesystem::path& real) const;
  [[nodiscard]] Error outside(const std::filesystem::path& real, const std::string& way) const;

  Places places_;  ///< real paths
};

}  // namespace ratchet
