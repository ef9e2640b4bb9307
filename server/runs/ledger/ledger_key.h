#pragma once

#include <filesystem>
#include <string>

#include "server/core/result.h"

namespace ratchet {

/// Reads the key that seals ledger rows, or creates a random one, and sets the file's mode to 0600.
///
/// Safe if several processes start at once: all get the same key.
/// Errors: `unavailable` if the file cannot be created or read; `drift` if it does not have the
/// size of a key.
[[nodiscard]] Result<std::string> load_or_make_key(const std::filesystem::path& path);

}  // namespace ratchet
