#pragma once

#include <vector>

#include "kernels/source/cpp_tokens.h"

namespace ratchet {

/// Evaluates the expression of an `#if`: integers, `defined`, macro names (unknown names are 0, as
/// in the language) and all C operators except the conditional one. `__has_include` counts as true.
/// An expression that cannot be parsed counts as true, so its first branch is the one read. Pure.
[[nodiscard]] bool condition_holds(const std::vector<Token>& words, const Macros& macros);

}  // namespace ratchet
