#include "kbs/text/trigrams.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

constexpr auto kLower = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c)
    table[c] = static_cast<std::uint8_t>(lower(static_cast<char>(c)));
  return table;
}();

std::uint32_t folded_byte(char c) {
  return kLower[static_cast<unsigned char>(c)];
}

std::uint32_t hash(std::uint32_t trigram) {
  return (trigram * 0x9E3779B1U) >> 7U;
}

template <class Visit>
void each_trigram(std::string_view text, Visit visit) {
  if (text.size() < 3) return;
  std::uint32_t window = (folded_byte(text[0]) << 8U) | folded_byte(text[1]);
  for (std::size_t i = 2; i < text.size(); ++i) {
    window = ((window << 8U) | folded_byte(text[i])) & 0xFFFFFFU;
    visit(window);
  }
}

}  // namespace

std::string trigram_filter(std::string_view text, std::string_view more) {
  // 0.8 bits per byte of text is a tenth of its size; at least 64 bytes.
  const auto bytes = std::bit_floor(std::max<std::size_t>((text.size() + more.size()) / 10, 64));
  std::string filter(bytes, '\0');
  const auto mask = static_cast<std::uint32_t>(bytes * 8 - 1);
  // Captured by value: a write through a char pointer could alias anything captured by reference.
  const auto set = [bits = filter.data(), mask](std::uint32_t trigram) {
    const auto bit = hash(trigram) & mask;
    bits[bit / 8] =
        static_cast<char>(static_cast<unsigned char>(bits[bit / 8]) | (1U << (bit % 8)));
  };
  each_trigram(text, set);
  each_trigram(more, set);
  return filter;
}

bool may_contain(std::string_view filter, std::string_view literal) {
  if (filter.empty()) return true;
  const auto mask = static_cast<std::uint32_t>(filter.size() * 8 - 1);
  bool possible = true;
  each_trigram(literal, [&](std::uint32_t trigram) {
    const auto bit = hash(trigram) & mask;
    possible = possible && ((static_cast<unsigned char>(filter[bit / 8]) >> (bit % 8)) & 1U) != 0;
  });
  return possible;
}

}  // namespace ratchet::kbs
