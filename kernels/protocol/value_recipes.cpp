#include "kernels/protocol/value_recipes.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

namespace ratchet {
namespace {

/// Whether an amount makes sense for this kind.
bool fits(RecipeKind kind, double amount) {
  switch (kind) {
    case RecipeKind::zeros:
    case RecipeKind::empty_rows:
    case RecipeKind::specials:
      return amount >= 0 && amount <= 1;
    case RecipeKind::few:
      return amount >= 1 && amount <= 4096 && amount == std::floor(amount);
    case RecipeKind::scaled:
      return amount >= -100 && amount <= 100 && amount == std::floor(amount);
    default:
      return false;
  }
}

}  // namespace

bool has_amount(RecipeKind kind) {
  using enum RecipeKind;
  return kind == zeros || kind == empty_rows || kind == few || kind == specials || kind == scaled;
}

bool is_edge(RecipeKind kind) {
  using enum RecipeKind;
  return kind == largest || kind == infinite || kind == nan;
}

std::string text_of(const Recipe& recipe) {
  if (!has_amount(recipe.kind)) return std::string(name_of(recipe.kind));
  return fmt::format("{}({:.6g})", name_of(recipe.kind), recipe.amount);
}

std::optional<Recipe> recipe_of(std::string_view text) {
  const auto open = text.find('(');
  const auto word = text.substr(0, open);
  for (const auto& [kind, name] : enum_names(RecipeKind{})) {
    if (word != name) continue;
    if (!has_amount(kind))
      return open == std::string_view::npos ? std::optional(Recipe{kind, 0}) : std::nullopt;
    if (open == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
    const auto inner = text.substr(open + 1, text.size() - open - 2);
    double amount = 0;
    const auto [end, failed] = std::from_chars(inner.data(), inner.data() + inner.size(), amount);
    if (failed != std::errc{} || end != inner.data() + inner.size() || !fits(kind, amount))
      return std::nullopt;
    return Recipe{kind, amount};
  }
  return std::nullopt;
}

}  // namespace ratchet
