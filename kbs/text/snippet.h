#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ratchet::kbs {

/// A few lines around the best hits of a text.
struct Snippet {
  std::string text;
  int line = 1;  ///< of the first line shown, counted from 1
  int hits = 0;  ///< different words found in it
};

/// Picks the window of up to four lines and 320 bytes that holds most of the words, earlier ones
/// first; words are lower case and found at word starts, endings free (so that `tile` finds
/// `tiling`'s stem). Cut lines end in "…". Pure.
[[nodiscard]] Snippet best_snippet(std::string_view text, int first_line,
                                   const std::vector<std::string>& words);

}  // namespace ratchet::kbs
