#pragma once

#include <filesystem>
#include <string>

#include "server/core/result.h"

namespace ratchet {

/// Reads the key that seals ledger rows, or makes a random one; the file's mode is 0600 afterwards.
///
/// Safe when several processes start at once: one key wins and all get that one.
/// Errors: `unavailable` when the file cannot be made or read; `drift` when it is no key.
[[nodiscard]] Result<std::string> load_or_make_key(const std::filesystem::path& path);

}  // namespace ratchet
