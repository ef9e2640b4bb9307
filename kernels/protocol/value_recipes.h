#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/core/field.h"

namespace ratchet {

/// Kinds of input values beside the distributions of every check. Each fills all inputs of a trial
/// that may take any values; what stands for floating-point `normal` inputs is told first.
///   zeros(p)       each element is zero with probability p
///   empty_rows(p)  each row of the last axis is zero with probability p
///   few(n)         n different values, at least two; integers: at least one, which all collide on
///   ascending      from 1/4 to 4 through the whole tensor; of a range: from end to end
///   descending     the reverse
///   negative       -|N(0, 1)|; others as always
///   ties           multiples of 1/2, on which roundings tie; others as always
///   specials(p)    each element with probability p one of +0, -0, 1, -1, a subnormal, a large one;
///                  integers: -1, 0, 1 or an end of their range
///   scaled(e)      N(0, 4^e), as far as the type goes; others as always
/// The edges of a type: in the first row of the last axis, and in every other one by chance, one
/// value of floating-point `normal` inputs, at any place, is so; all others are as always.
///   largest        plus or minus the largest finite value; of float64 2^500, whose square is
///   finite infinite       plus or minus infinity; of a type without one the largest finite value
///   nan            not a number
enum class RecipeKind {
  zeros,
  empty_rows,
  few,
  ascending,
  descending,
  negative,
  ties,
  specials,
  scaled,
  largest,
  infinite,
  nan
};
constexpr auto enum_names(RecipeKind) {
  using enum RecipeKind;
  return as_written<zeros, empty_rows, few, ascending, descending, negative, ties, specials, scaled,
                    largest, infinite, nan>();
}

/// Input values in one of these ways. Written where the name of a distribution is: "zeros(0.93)",
/// "few(4)", "ascending".
struct Recipe {
  RecipeKind kind = RecipeKind::zeros;
  double amount = 0;  ///< 0 for kinds without one

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// Whether values of this kind have a number.
[[nodiscard]] bool has_amount(RecipeKind kind);

/// Whether these are values at the edge of their type.
[[nodiscard]] bool is_edge(RecipeKind kind);

[[nodiscard]] std::string text_of(const Recipe& recipe);

/// Empty for any other text, such as the name of a distribution. Pure.
[[nodiscard]] std::optional<Recipe> recipe_of(std::string_view text);

}  // namespace ratchet
