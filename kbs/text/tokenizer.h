#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet::kbs {

/// One index term found in a text.
struct Token {
  std::string_view text;  ///< folded; valid during the call only
  std::size_t begin = 0;  ///< bytes in the text
  std::size_t end = 0;
  bool same_position = false;  ///< a part of the identifier just emitted
};

/// Splits text into the terms of the index.
///
/// Words are folded to lower case without diacritics and lightly stemmed. An identifier
/// (`cp.async.bulk`, `cta_group::2`, `HGMMA.64x8x16`, `TensorMap`, `merge_attn_states`) is emitted
/// whole and, at the same position, by its dotted beginnings and its parts, so that the exact name
/// and each part can be found. Everything else separates, hyphens included: `warp-specialized` is
/// two words. Pure and thread-safe; any bytes are accepted, broken UTF-8 separates.
/// `sink` returns false to stop.
void tokenize(std::string_view text, const std::function<bool(const Token&)>& sink);

/// The next stretch of a text that holds tokens and is cut without a look at its surroundings: a
/// word or an identifier. Both are the text's size behind the last one.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};
[[nodiscard]] Stretch next_stretch(std::string_view text, std::size_t from);

/// A word of a query with the terms it stands for.
struct QueryWord {
  std::string surface;             ///< as written, folded
  std::string term;                ///< the whole term
  std::vector<std::string> parts;  ///< terms of the parts; empty for plain words
};

/// The words of a query in order, at most `limit`.
[[nodiscard]] std::vector<QueryWord> query_words(std::string_view text, std::size_t limit);

/// Light stemming of a lower-case ASCII word: plural, -ing, -ed, final e.
[[nodiscard]] std::string stem(std::string_view word);

}  // namespace ratchet::kbs
