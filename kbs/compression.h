#pragma once

#include <string>
#include <string_view>

#include "server/core/result.h"

namespace ratchet::kbs {

/// zstd, one frame. Thread-safe.
[[nodiscard]] std::string compress(std::string_view bytes);

/// Errors: `internal` when the frame is damaged or larger than 256 MB.
[[nodiscard]] Result<std::string> decompress(std::string_view frame);

}  // namespace ratchet::kbs
