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

/// A source as tokens: no comments, no directives, and of every `#if` only the first branch that is
/// not literally 0.
struct TokenizedSource {
  std::vector<Token> tokens;
  std::map<std::string, std::vector<Token>> macros;  ///< object-like `#define`s
};

/// Pure; never fails: an unfinished literal or comment ends with the text.
[[nodiscard]] TokenizedSource tokenize(std::string_view source);

/// Tokens with single blanks between them where needed, for messages and declarations.
[[nodiscard]] std::string join(const std::vector<Token>& tokens);

}  // namespace ratchet
