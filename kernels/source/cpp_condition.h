#pragma once

#include <vector>

#include "kernels/source/cpp_tokens.h"

namespace ratchet {

/// Whether the expression of an `#if` is true: integers, `defined`, names (0 when unknown, as the
/// language has it), the operators of C but the conditional one. `__has_include` holds. What cannot
/// be read counts as true: the first branch is then the one that is looked at. Pure.
[[nodiscard]] bool condition_holds(const std::vector<Token>& words, const Macros& macros);

}  // namespace ratchet
