#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/core/result.h"

// How large texts lie in a database.

namespace ratchet {

/// zstd, one frame; empty where there is no memory for it. Thread-safe.
[[nodiscard]] std::string compress(std::string_view bytes);

/// Errors: `internal` when the frame is damaged or larger than 256 MB.
[[nodiscard]] Result<std::string> decompress(std::string_view frame);

/// Frames of any kind one behind the other, as a `.zst` file holds them.
/// Errors: `invalid_argument` when damaged or cut short, `too_large` beyond `limit` bytes.
[[nodiscard]] Result<std::string> decompress_file(std::string_view bytes, std::size_t limit);

}  // namespace ratchet
