#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ratchet::mcp {

/// RFC 4648 base64 with padding. Pure.
[[nodiscard]] std::string base64_encode(std::string_view bytes);
/// Empty when the text is no padded base64.
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace ratchet::mcp
