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

/// A source as tokens, without comments and directives. Of every `#if`, only the active branch.
struct TokenizedSource {
  std::vector<Token> tokens;
  Macros macros;  ///< `predefined` plus the source's own, as defined at its end
};

/// Pure; never fails: an unterminated literal or comment ends with the text. A byte order mark is
/// skipped. Included headers are not read; macros they define count as undefined.
[[nodiscard]] TokenizedSource tokenize(std::string_view source, Macros predefined = {});

/// The tokens separated by single spaces where needed; for messages and declarations.
[[nodiscard]] std::string join(const std::vector<Token>& tokens);

}  // namespace ratchet
