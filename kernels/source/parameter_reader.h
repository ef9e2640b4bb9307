#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/source/cpp_tokens.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

// Reads the parameter list of an entry function, token by token; see signature.h for what is
// accepted. Pure and thread-safe.

using Tokens = std::vector<Token>;
/// The expansion of a macro, `using` or `typedef` name.
struct Alias {
  Tokens tokens;
  bool type =
      false;  ///< a type rather than substituted text: `const P x` is then a constant pointer
};
using Aliases = std::map<std::string, Alias>;

/// A parameter and its type as spelled in the declaration.
struct ReadParameter {
  Parameter parameter;
  std::string type;
};

/// Errors: `invalid_argument` quoting the parameter.
[[nodiscard]] Result<ReadParameter> read_parameter(const Tokens& tokens, const Aliases& aliases);

/// The parts between commas outside brackets; none for `()` and `(void)`.
[[nodiscard]] std::vector<Tokens> split_at_commas(const Tokens& tokens);

/// Index just past the bracket that closes the one at `open`.
[[nodiscard]] std::size_t behind_group(const Tokens& tokens, std::size_t open);

/// `tokens` with aliases expanded, including nested ones, up to 1000 tokens of aliases.
[[nodiscard]] Tokens expanded(const Tokens& tokens, const Aliases& aliases);

/// An error about a signature; its hint is `accepted_parameters()`.
[[nodiscard]] Error unreadable_signature(std::string message);

}  // namespace ratchet
