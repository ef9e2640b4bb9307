#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/source/cpp_tokens.h"
#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

// The parameter list of an entry function, token by token; see signature.h for what is accepted.
// Pure and thread-safe.

using Tokens = std::vector<Token>;
/// What a name stands for: macros, `using` and `typedef`.
struct Alias {
  Tokens tokens;
  bool type = false;  ///< not text that is put in: `const P x` is a constant pointer
};
using Aliases = std::map<std::string, Alias>;

/// A parameter and its type as a declaration spells it.
struct ReadParameter {
  Parameter parameter;
  std::string type;
};

/// Errors: `invalid_argument` quoting the parameter.
[[nodiscard]] Result<ReadParameter> read_parameter(const Tokens& tokens, const Aliases& aliases);

/// The pieces between commas outside brackets; none for `()` and `(void)`.
[[nodiscard]] std::vector<Tokens> split_at_commas(const Tokens& tokens);

/// Index just behind the bracket that closes the one at `open`.
[[nodiscard]] std::size_t behind_group(const Tokens& tokens, std::size_t open);

/// `tokens` with aliases replaced, nested ones too.
[[nodiscard]] Tokens expanded(const Tokens& tokens, const Aliases& aliases, int depth = 0);

/// An error about a signature; its hint is `accepted_parameters()`.
[[nodiscard]] Error unreadable_signature(std::string message);

}  // namespace ratchet
