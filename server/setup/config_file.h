#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "server/core/result.h"

namespace ratchet::setup {

/// A file of another program, read to be replaced with its mode kept.
class ConfigFile {
 public:
  /// Follows symbolic links, but not out of `within` unless that is empty. A file that is missing
  /// reads as empty. Errors: `not_permitted` for a link that leads out and for another user's file;
  /// those of `read_file`.
  static Result<ConfigFile> open(const std::filesystem::path& path,
                                 const std::filesystem::path& within);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool exists() const { return exists_; }
  /// Where it really is.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Replaces it atomically; makes missing folders and appends them to `made`.
  /// Errors: `conflict` when it has changed since it was read; `unavailable`.
  Status replace(const std::string& text, std::vector<std::filesystem::path>& made);
  /// Removes it, and then those of `folders` that are empty, last first.
  Status remove(const std::vector<std::filesystem::path>& folders);

 private:
  [[nodiscard]] Status unchanged() const;

  std::filesystem::path path_;
  std::string text_;
  bool exists_ = false;
  unsigned mode_ = 0600;
};

}  // namespace ratchet::setup
