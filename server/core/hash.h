#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ratchet {

/// A SHA-256 digest. Pure functions; thread-safe.
using Digest = std::array<unsigned char, 32>;

[[nodiscard]] Digest sha256(std::string_view bytes);
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view message);

/// Lower-case hexadecimal.
[[nodiscard]] std::string hex(std::span<const unsigned char> bytes);

/// `sha256` as 64 hex characters: how sources, binaries and artifacts are named.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// Equal without telling by its duration where the first difference stands.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b);

/// `count` bytes from the operating system's generator, for keys, secrets and ids.
[[nodiscard]] std::string random_bytes(std::size_t count);

}  // namespace ratchet
