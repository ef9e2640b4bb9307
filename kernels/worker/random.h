#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ratchet::worker {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a keyed
/// function from a counter to 128 random bits, so that any element can be drawn on any thread in
/// any order. Statistically good but not a cipher: keys come from an HMAC and are used once.
class Philox {
 public:
  using Block = std::array<std::uint32_t, 4>;

  /// Uses the first 128 bits of a hexadecimal seed and mixes in the stream number.
  Philox(std::string_view hex_seed, std::uint32_t stream) : stream_(stream) {
    std::array<std::uint32_t, 4> words{};
    for (std::size_t i = 0; i < 32 && i < hex_seed.size(); ++i)
      words[i / 8] = words[i / 8] << 4U | digit(hex_seed[i]);
    key_ = {words[0], words[1]};
    salt_ = {words[2], words[3]};
  }

  [[nodiscard]] Block operator()(std::uint64_t counter) const {
    Block x{static_cast<std::uint32_t>(counter),
            static_cast<std::uint32_t>(counter >> 32U) ^ salt_[0], stream_, salt_[1]};
    std::uint32_t k0 = key_[0];
    std::uint32_t k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = std::uint64_t{0xD2511F53U} * x[0];
      const std::uint64_t b = std::uint64_t{0xCD9E8D57U} * x[2];
      x = {static_cast<std::uint32_t>(b >> 32U) ^ x[1] ^ k0, static_cast<std::uint32_t>(b),
           static_cast<std::uint32_t>(a >> 32U) ^ x[3] ^ k1, static_cast<std::uint32_t>(a)};
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    return x;
  }

  /// An integer in [0, bound); the bias is below bound / 2^64.
  [[nodiscard]] std::uint64_t below(std::uint64_t counter, std::uint64_t bound) const {
    const Block block = (*this)(counter);
    const std::uint64_t wide = std::uint64_t{block[0]} << 32U | block[1];
    return static_cast<std::uint64_t>((static_cast<Wide>(wide) * bound) >> 64U);
  }

 private:
  // NOLINTNEXTLINE(modernize-use-using): __extension__ cannot precede an alias
  __extension__ typedef unsigned __int128 Wide;

  static std::uint32_t digit(char c) {
    return static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }

  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 2> salt_{};
  std::uint32_t stream_;
};

}  // namespace ratchet::worker
