#include "kernels/contract/where.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/source/expression.h"
#include "server/core/text.h"

namespace ratchet {
namespace {

enum class Comparison { less, at_most, equal, unequal, at_least, more };

struct Relation {
  std::string_view left;
  Comparison comparison = Comparison::equal;
  std::string_view right;
};

std::optional<Relation> read_relation(std::string_view text) {
  using enum Comparison;
  // Two characters come first: "<" is part of "<=".
  constexpr std::array<std::pair<std::string_view, Comparison>, 6> kSigns{{{"<=", at_most},
                                                                           {">=", at_least},
                                                                           {"==", equal},
                                                                           {"!=", unequal},
                                                                           {"<", less},
                                                                           {">", more}}};
  for (const auto& [sign, comparison] : kSigns)
    if (const auto at = text.find(sign); at != std::string_view::npos)
      return Relation{trimmed(text.substr(0, at)), comparison,
                      trimmed(text.substr(at + sign.size()))};
  return std::nullopt;
}

bool compare(std::int64_t left, Comparison comparison, std::int64_t right) {
  switch (comparison) {
    case Comparison::less:
      return left < right;
    case Comparison::at_most:
      return left <= right;
    case Comparison::equal:
      return left == right;
    case Comparison::unequal:
      return left != right;
    case Comparison::at_least:
      return left >= right;
    case Comparison::more:
      return left > right;
  }
  return false;
}

Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::less:
      return Comparison::more;
    case Comparison::at_most:
      return Comparison::at_least;
    case Comparison::at_least:
      return Comparison::at_most;
    case Comparison::more:
      return Comparison::less;
    default:
      return comparison;
  }
}

/// The value next to `now` that compares so with `bound`.
std::int64_t moved_to(std::int64_t now, Comparison comparison, std::int64_t bound) {
  switch (comparison) {
    case Comparison::less:
      return bound - 1;
    case Comparison::more:
      return bound + 1;
    case Comparison::unequal:
      return now > 1 ? now - 1 : now + 1;
    default:
      return bound;
  }
}

/// `size` alone, or `size % step`, on the left.
void mend_left(const Relation& relation, const Dims& names, Dims& dims) {
  const auto percent = relation.left.find('%');
  const auto name = trimmed(relation.left.substr(0, percent));
  const auto size = dims.find(std::string(name));
  const auto bound = evaluate_integer(relation.right, names);
  if (size == dims.end() || !bound) return;
  if (percent == std::string_view::npos) {
    size->second = moved_to(size->second, relation.comparison, *bound);
    return;
  }
  const auto step = evaluate_integer(relation.left.substr(percent + 1), names);
  if (relation.comparison != Comparison::equal || !step || *step < 1) return;
  const auto below = size->second - size->second % *step + *bound;
  size->second = below > size->second && below > *step ? below - *step : below;
  if (size->second < 1) size->second += *step;
}

void mend(std::string_view text, const Dims& names, Dims& dims) {
  const auto relation = read_relation(text);
  if (!relation) return;
  const auto before = dims;
  mend_left(*relation, names, dims);
  if (dims == before)
    mend_left({relation->right, mirrored(relation->comparison), relation->left}, names, dims);
}

}  // namespace

Dims names_in(const Contract& contract, const Dims& dims) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  Dims names = dims;
  for (const auto& parameter : contract.parameters)
    if (parameter.kind == ParameterKind::scalar && parameter.value &&
        *parameter.value == std::trunc(*parameter.value) && std::abs(*parameter.value) <= kExact)
      names.try_emplace(parameter.name, static_cast<std::int64_t>(*parameter.value));
  return names;
}

Result<bool> holds(std::string_view relation, const Dims& names) {
  const auto parts = read_relation(relation);
  if (!parts)
    return invalid_argument(fmt::format("\"{}\" compares nothing", relation.substr(0, 80)),
                            "Write two expressions with <=, <, ==, !=, > or >= between them, such "
                            "as nnz <= m*n.");
  const auto left = evaluate_integer(parts->left, names);
  if (!left) return left.error();
  const auto right = evaluate_integer(parts->right, names);
  if (!right) return right.error();
  return compare(*left, parts->comparison, *right);
}

bool keeps_relations(const Contract& contract, const Dims& dims) {
  if (!contract.where) return true;
  const auto names = names_in(contract, dims);
  return std::ranges::all_of(*contract.where, [&](const std::string& relation) {
    const auto kept = holds(relation, names);
    return kept && *kept;
  });
}

Dims mended(const Contract& contract, Dims dims) {
  constexpr int kPasses = 4;  // one change may break another relation
  if (!contract.where) return dims;
  for (int pass = 0; pass < kPasses && !keeps_relations(contract, dims); ++pass)
    for (const auto& relation : *contract.where) {
      const auto names = names_in(contract, dims);
      if (const auto kept = holds(relation, names); kept && !*kept) mend(relation, names, dims);
    }
  return dims;
}

}  // namespace ratchet
