#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ratchet::kbs {

/// A fast 64-bit hash that reads eight bytes at a time. Not collision-resistant against deliberate
/// attacks. The index stores its values, so the function must not change. Pure.
[[nodiscard]] inline std::uint64_t fast_hash(std::string_view text) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U ^ text.size();
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32U;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    mix(word);
  }
  std::uint64_t rest = 0;
  if (at < text.size()) std::memcpy(&rest, text.data() + at, text.size() - at);
  mix(rest);
  return hash * 0x9E3779B97F4A7C15U;
}

}  // namespace ratchet::kbs
