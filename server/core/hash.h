#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ratchet {

/// A SHA-256 digest.
using Digest = std::array<unsigned char, 32>;

[[nodiscard]] Digest sha256(std::string_view bytes);
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view message);

/// Lowercase hexadecimal.
[[nodiscard]] std::string hex(std::span<const unsigned char> bytes);

/// RFC 4648 base64 with padding.
[[nodiscard]] std::string base64(std::string_view bytes);
/// Decodes padded base64; empty when `text` is not valid.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

/// `sha256` as 64 hex characters: the name of sources, binaries and artifacts.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// Compares in a time that does not depend on where the first difference is.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

/// `count` bytes from a cryptographic generator, for keys, secrets and ids.
[[nodiscard]] std::string random_bytes(std::size_t count);

}  // namespace ratchet
