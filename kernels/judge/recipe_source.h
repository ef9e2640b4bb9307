#pragma once

#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/protocol/value_recipes.h"
#include "server/facts/contract.h"
#include "server/facts/value_search.h"

namespace ratchet {

/// The values that a search asks a kernel on, one after the other: first a grid over all kinds that
/// change any input of the contract, in an order that only the seed tells, then amounts drawn anew,
/// every second time of the kind that was worst so far. None twice, and none that the contract has
/// found already.
class RecipeSource {
 public:
  RecipeSource(const Contract& contract, std::string_view hex_seed);

  /// Empty: there are no others.
  std::optional<std::string> next();
  /// How bad values of it turned out to be; larger is worse.
  void learn(const std::string& values, double badness);

 private:
  [[nodiscard]] double amount_of(RecipeKind kind);
  std::optional<std::string> fresh(const Recipe& recipe);

  std::mt19937_64 random_;
  std::vector<RecipeKind> kinds_;
  std::vector<Recipe> grid_;  ///< the rest of it
  std::set<std::string> given_;
  std::optional<RecipeKind> worst_;
  double worst_badness_ = 0;
  bool near_worst_ = false;
};

/// Notes which values the contract's run keeps: these, unless it holds as many as it may.
void keep_values(const Contract& contract, std::vector<std::string> values, ValueSearch& search);

}  // namespace ratchet
