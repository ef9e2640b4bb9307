#include "kernels/judge/recipe_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "kernels/judge/trial_plan.h"

namespace ratchet {
namespace {

// Beyond the distributions of every check, which have magnitudes from 2^-6 to 30, a few zeros, and
// rows in order. Larger magnitudes are not asked: what cancels there says little about a kernel.
// Nor are smaller ones: an honest exp(x) - 1, or a table, is only as exact as its values near 1
// are.
constexpr std::array kGrid{
    Recipe{RecipeKind::zeros, 0.5},      Recipe{RecipeKind::zeros, 0.9},
    Recipe{RecipeKind::zeros, 0.97},     Recipe{RecipeKind::zeros, 0.999},
    Recipe{RecipeKind::empty_rows, 0.5}, Recipe{RecipeKind::empty_rows, 0.95},
    Recipe{RecipeKind::few, 1},          Recipe{RecipeKind::few, 4},
    Recipe{RecipeKind::few, 32},         Recipe{RecipeKind::few, 512},
    Recipe{RecipeKind::ascending, 0},    Recipe{RecipeKind::descending, 0},
    Recipe{RecipeKind::negative, 0},     Recipe{RecipeKind::ties, 0},
    Recipe{RecipeKind::specials, 0.02},  Recipe{RecipeKind::specials, 0.5},
    Recipe{RecipeKind::scaled, 4},       Recipe{RecipeKind::scaled, -9},
};

std::uint64_t number_of(std::string_view hex_seed) {
  std::uint64_t number = 0;
  const auto digits = hex_seed.substr(0, 16);
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

/// The kinds that change a tensor's contents.
std::vector<RecipeKind> kinds_for(const TensorSpec& tensor) {
  using enum RecipeKind;
  if (tensor.role == Role::out || keeps_contents(tensor)) return {};
  const auto is = [&](std::string_view init) { return tensor.init.starts_with(init); };
  if (is("normal") && is_floating(tensor.dtype))
    return {zeros, empty_rows, few, ascending, descending, negative, ties, specials, scaled};
  if (is("permutation")) return {ascending, descending};
  if (is("offsets")) return {few, ascending};
  return {zeros, empty_rows, few, ascending, descending, specials};
}

double three_digits_of(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::round(value / unit) * unit;
}

}  // namespace

RecipeSource::RecipeSource(const Contract& contract, std::string_view hex_seed)
    : random_(number_of(hex_seed)) {
  std::set<RecipeKind> kinds;
  for (const auto& tensor : contract.tensors)
    for (const auto kind : kinds_for(tensor)) kinds.insert(kind);
  kinds_.assign(kinds.begin(), kinds.end());
  for (const auto& recipe : kGrid)
    if (kinds.contains(recipe.kind)) grid_.push_back(recipe);
  std::ranges::shuffle(grid_, random_);
  if (contract.found_values)
    given_.insert(contract.found_values->begin(), contract.found_values->end());
}

double RecipeSource::amount_of(RecipeKind kind) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(random_);
  };
  switch (kind) {
    case RecipeKind::zeros:
    case RecipeKind::empty_rows:
      return 1 - three_digits_of(std::pow(10, between(-3.5, -0.1)));
    case RecipeKind::few:
      return std::floor(std::exp2(between(0, 12)));
    case RecipeKind::specials:
      return three_digits_of(std::pow(10, between(-4, -0.1)));
    case RecipeKind::scaled:
      return std::floor(between(-9, 6));
    default:
      return 0;
  }
}

std::optional<std::string> RecipeSource::fresh(const Recipe& recipe) {
  auto text = text_of(recipe);
  if (!given_.insert(text).second) return std::nullopt;
  return text;
}

std::optional<std::string> RecipeSource::next() {
  while (!grid_.empty()) {
    const Recipe recipe = grid_.back();
    grid_.pop_back();
    if (auto text = fresh(recipe)) return text;
  }
  constexpr int kDraws = 64;  // without a new one: nearly all have been given
  std::vector<RecipeKind> kinds;
  std::ranges::copy_if(kinds_, std::back_inserter(kinds), has_amount);
  for (int i = 0; i < kDraws && !kinds.empty(); ++i) {
    near_worst_ = !near_worst_;
    const auto any = kinds[random_() % kinds.size()];
    const auto kind = near_worst_ && worst_ && has_amount(*worst_) ? *worst_ : any;
    if (auto text = fresh({kind, amount_of(kind)})) return text;
  }
  return std::nullopt;
}

void keep_values(const Contract& contract, std::vector<std::string> values, ValueSearch& search) {
  const auto held = contract.found_values ? contract.found_values->size() : 0;
  for (auto& value : values) {
    if (held + search.kept.size() < kMostKeptValues)
      search.kept.push_back(std::move(value));
    else
      search.notes.push_back(
          fmt::format("{}: not kept, because the run holds {} values already", value, held));
  }
}

void RecipeSource::learn(const std::string& values, double badness) {
  const auto recipe = recipe_of(values);
  if (!recipe || (worst_ && badness <= worst_badness_)) return;
  worst_ = recipe->kind;
  worst_badness_ = badness;
}

}  // namespace ratchet
