#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "server/core/result.h"

namespace ratchet {

/// What to do about a failure of the system, by its errno; often nothing is known.
[[nodiscard]] std::string_view hint_for(int code);

/// Reads a whole regular file of at most `limit` bytes.
/// Errors: `not_found` when absent, `too_large` beyond the limit, `invalid_argument` when it is not
/// a regular file.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t limit = std::size_t{64} << 20U);

/// The same for an open file, from its current offset. `path` is its name in messages.
[[nodiscard]] Result<std::string> read_open_file(int fd, const std::filesystem::path& path,
                                                 std::size_t limit = std::size_t{64} << 20U);

/// Replaces `path` atomically: temporary file beside it, fsync, rename, fsync of the folder.
/// Creates missing parent folders. Readers see either the old content or the new.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// Writes a file in place without waiting for the disk: for what a crash may take.
[[nodiscard]] Status write_unsynced(const std::filesystem::path& path, std::string_view bytes);

/// Writes everything to an open file and syncs it. `path` is its name in messages.
[[nodiscard]] Status write_open_file(int fd, std::string_view bytes,
                                     const std::filesystem::path& path);

}  // namespace ratchet
