#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ratchet::kbs {

/// A few lines of a text around the best matches.
struct Snippet {
  std::string text;
  int line = 1;  ///< number of the first line shown, counted from 1
  int hits = 0;  ///< number of distinct words found in it
};

/// Picks the window of up to four lines and 320 bytes that contains the most words; the earliest
/// one wins a tie. `words` are lower-case stems and match the beginning of a word, so `til` finds
/// `tiling`. `first_line` is the line number of the text's first line. Truncated lines end in "…".
/// Pure.
[[nodiscard]] Snippet best_snippet(std::string_view text, int first_line,
                                   const std::vector<std::string>& words);

}  // namespace ratchet::kbs
