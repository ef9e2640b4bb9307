#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {

/// One token of C++ or CUDA source.
struct Token {
  enum class Kind { identifier, number, string, punctuation };
  Kind kind = Kind::punctuation;
  std::string text;  ///< strings with their quotes; "::", "->", "[[" and "]]" are one token

  [[nodiscard]] bool is(std::string_view wanted) const { return text == wanted; }
  [[nodiscard]] bool identifier() const { return kind == Kind::identifier; }
};

/// Object-like macros by name.
using Macros = std::map<std::string, std::vector<Token>>;

/// A source as tokens: no comments, no directives, and of every `#if` only the branch that counts.
struct TokenizedSource {
  std::vector<Token> tokens;
  Macros macros;  ///< `predefined` and the source's own, as they stand at its end
};

/// Pure; never fails: an unfinished literal or comment ends with the text. A byte order mark is
/// passed over. Included headers are not read; what they define counts as not defined.
[[nodiscard]] TokenizedSource tokenize(std::string_view source, Macros predefined = {});

/// Tokens with single blanks between them where needed, for messages and declarations.
[[nodiscard]] std::string join(const std::vector<Token>& tokens);

}  // namespace ratchet
