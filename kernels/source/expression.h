#pragma once

#include <cstdint>
#include <string_view>

#include "server/core/result.h"
#include "server/facts/contract.h"

namespace ratchet {

// Safe arithmetic over the dims of a case: shapes ("rows*cols"), work ("2*m*n*k"), limits of index
// inputs. A small parser evaluates it; nothing is executed.
//
// Grammar: + - * / % ( ), unary minus, min(a,b,…), max(a,b,…), ceil_div(a,b), numbers ("128",
// "1e6", "0.5") and the names of dims.
//
// Pure and thread-safe. Errors: `invalid_argument` naming the expression, the offending part and
// what is accepted: syntax, unknown name, division by zero, overflow, a result that is not finite.

/// Longest accepted expression in bytes; nesting deeper than `kMaxExpressionDepth` is refused too.
inline constexpr std::size_t kMaxExpressionLength = 1024;
inline constexpr int kMaxExpressionDepth = 64;

/// Exact 64-bit integer arithmetic: `/` rounds toward zero, numbers must be whole ("0.5" is an
/// error), and every overflow is detected.
[[nodiscard]] Result<std::int64_t> evaluate_integer(std::string_view text, const Dims& dims);

/// The same in double precision: `/` keeps fractions, `%` is fmod, ceil_div rounds up to a whole
/// number.
[[nodiscard]] Result<double> evaluate(std::string_view text, const Dims& dims);

}  // namespace ratchet
