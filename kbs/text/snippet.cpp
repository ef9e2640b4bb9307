#include "kbs/text/snippet.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>

#include "server/core/text.h"

namespace ratchet::kbs {
namespace {

constexpr std::size_t kLines = 4;
constexpr std::size_t kBytes = 320;

/// Letters in lower case and digits unchanged; 0 for every character that is not part of a word.
constexpr std::array<char, 256> kFolded = [] {
  std::array<char, 256> folded{};
  for (char c = '0'; c <= '9'; ++c) folded[static_cast<unsigned char>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) {
    folded[static_cast<unsigned char>(c)] = c;
    folded[static_cast<unsigned char>(c - 'a' + 'A')] = c;
  }
  return folded;
}();

char folded(char c) {
  return kFolded[static_cast<unsigned char>(c)];
}

bool starts_with_folded(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (text[i] != word[i] && folded(text[i]) != word[i]) return false;
  return true;
}

/// For each first character, a bit for each word that begins with it.
using ByFirst = std::array<std::uint64_t, 256>;

/// A bit for each word that begins somewhere in the line.
std::uint64_t words_in(std::string_view line, const std::vector<std::string>& words,
                       const ByFirst& by_first) {
  std::uint64_t found = 0;
  char before = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = folded(line[i]);
    if (before == 0) {
      auto candidates = by_first[static_cast<unsigned char>(c)] & ~found;
      for (; candidates != 0; candidates &= candidates - 1) {
        const auto w = static_cast<std::size_t>(std::countr_zero(candidates));
        if (starts_with_folded(line.substr(i), words[w])) found |= std::uint64_t{1} << w;
      }
    }
    before = c;
  }
  return found;
}

/// Truncates to `limit` bytes at a character boundary.
std::string clipped(std::string_view line, std::size_t limit) {
  if (line.size() <= limit) return std::string(line);
  while (limit > 0 && (static_cast<unsigned char>(line[limit]) & 0xC0U) == 0x80U) --limit;
  return std::string(line.substr(0, limit)) + "…";
}

}  // namespace

Snippet best_snippet(std::string_view text, int first_line, const std::vector<std::string>& words) {
  ByFirst by_first{};
  for (std::size_t w = 0; w < words.size() && w < 64; ++w)
    if (!words[w].empty())
      by_first[static_cast<unsigned char>(words[w].front())] |= std::uint64_t{1} << w;

  struct Line {
    std::string_view text;
    std::uint64_t found;
  };
  std::vector<Line> lines;
  for (const auto line : lines_of(text))  // headings repeat what the title and `why` already say
    lines.push_back({line, line.starts_with('#') ? 0 : words_in(line, words, by_first)});

  std::size_t best = 0;
  int best_hits = -1;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].found == 0 && best_hits >= 0) continue;
    if (lines[i].text.starts_with('#') && i + 1 < lines.size()) continue;
    if (lines[i].text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::uint64_t found = 0;
    for (std::size_t k = i; k < std::min(lines.size(), i + kLines); ++k) found |= lines[k].found;
    const int hits = std::popcount(found);
    if (hits > best_hits) {
      best = i;
      best_hits = hits;
    }
  }
  Snippet snippet{"", first_line + static_cast<int>(best), std::max(best_hits, 0)};
  for (auto i = best; i < std::min(lines.size(), best + kLines) && snippet.text.size() < kBytes;
       ++i) {
    if (i > best) snippet.text += '\n';
    snippet.text += clipped(lines[i].text, kBytes - std::min(kBytes, snippet.text.size()));
  }
  while (!snippet.text.empty() &&
         std::isspace(static_cast<unsigned char>(snippet.text.back())) != 0)
    snippet.text.pop_back();
  return snippet;
}

}  // namespace ratchet::kbs
