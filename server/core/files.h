#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/result.h"

namespace ratchet {

/// Reads a whole regular file of at most `limit` bytes.
/// Errors: `not_found` when absent, `too_large` beyond the limit, `invalid_argument` when it is not
/// a regular file.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t limit = std::size_t{64} << 20U);

/// Replaces `path` atomically: temporary file beside it, fsync, rename, fsync of the folder.
/// Creates missing parent folders. Readers see either the old content or the new.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// Resolves `path` with its symlinks and checks that it lies inside one of `roots`.
/// Errors: `not_permitted` naming the roots; `not_found` when it does not exist.
[[nodiscard]] Result<std::filesystem::path> inside_roots(
    const std::filesystem::path& path, const std::vector<std::filesystem::path>& roots);

}  // namespace ratchet
