#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "server/core/result.h"

namespace ratchet {

/// Reads the key that seals ledger rows, or creates a random one, and sets the file's mode to 0600.
///
/// Safe if several processes start at once: all get the same key.
/// Errors: `unavailable` if the file cannot be created or read; `drift` if it does not have the
/// size of a key.
[[nodiscard]] Result<std::string> load_or_make_key(const std::filesystem::path& path);

/// HMAC-SHA-256 in hex over `purpose` and the fields, each with its length, so that no two lists
/// give the same message. Seals of different kinds have different purposes.
[[nodiscard]] std::string seal_with(const std::string& key, std::string_view purpose,
                                    std::initializer_list<std::string_view> fields);

}  // namespace ratchet
