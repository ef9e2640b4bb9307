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
  bool same_position = false;  ///< part of the identifier emitted just before
};

/// Incremented whenever the terms of a text change. The next writer of an older index brings its
/// pages up to date.
inline constexpr int kTermsVersion = 2;

/// Splits text into index terms.
///
/// Words are folded to lower case without diacritics and lightly stemmed. An identifier
/// (`cp.async.bulk`, `cta_group::2`, `HGMMA.64x8x16`, `TensorMap`, `merge_attn_states`) is emitted
/// whole, followed by its dotted prefixes and its parts at the same position, so that both the
/// exact name and each part can be found. Every other character is a separator, hyphens included:
/// `row-wise` is two words, the first of which has `rowwise` at its position. British and American
/// spellings of a plain word are one term; a name as a whole is never respelled. Any bytes are
/// accepted; invalid UTF-8 separates. Pure. `sink` returns false to stop.
void tokenize(std::string_view text, const std::function<bool(const Token&)>& sink);

/// The next stretch of a text that can be tokenized on its own: a word or an identifier. Both
/// offsets equal the size of the text when there is no further one.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};
[[nodiscard]] Stretch next_stretch(std::string_view text, std::size_t from);

/// A word of a query and its index terms.
struct QueryWord {
  std::string surface;             ///< as written, in lower case
  std::string term;                ///< term of the whole word
  std::vector<std::string> parts;  ///< terms of its parts; empty for plain words
  std::string compound;            ///< term of this word and the next one, when a hyphen joins them
};

/// The words of a query in order, at most `limit`.
[[nodiscard]] std::vector<QueryWord> query_words(std::string_view text, std::size_t limit);

/// Light stemming of a lower-case ASCII word: plural, -ing, -ed, final e.
[[nodiscard]] std::string stem(std::string_view word);

}  // namespace ratchet::kbs
