#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/core/result.h"

// Compression of large texts in databases.

namespace ratchet {

/// One zstd frame; empty if memory runs out. Thread-safe.
[[nodiscard]] std::string compress(std::string_view bytes);

/// Errors: `internal` if the frame is damaged or larger than 256 MB.
[[nodiscard]] Result<std::string> decompress(std::string_view frame);

/// Decompresses the concatenated frames of a `.zst` file.
/// Errors: `invalid_argument` if damaged or truncated, `too_large` beyond `limit` bytes.
[[nodiscard]] Result<std::string> decompress_file(std::string_view bytes, std::size_t limit);

}  // namespace ratchet
