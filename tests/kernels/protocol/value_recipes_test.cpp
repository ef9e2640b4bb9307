#include "kernels/protocol/value_recipes.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace ratchet;

TEST_CASE("a recipe is told from the name of a distribution, and reads as it is written",
          "[protocol]") {
  for (const std::string text :
       {"zeros(0.93)", "empty_rows(0.5)", "few(4)", "ascending", "descending", "negative", "ties",
        "specials(0.02)", "scaled(-24)", "zeros(0.99968)"}) {
    INFO(text);
    const auto recipe = recipe_of(text);
    REQUIRE(recipe);
    CHECK(text_of(*recipe) == text);
  }
  for (const std::string text : {"normal", "special", "sequence", "", "zero(0.5)"}) {
    INFO(text);
    CHECK_FALSE(recipe_of(text));
  }
}

TEST_CASE("a recipe without sense is none", "[protocol]") {
  for (const std::string text :
       {"zeros", "zeros()", "zeros(1.5)", "zeros(-0.1)", "zeros(0.5", "zeros(0.5)x", "zeros(nan)",
        "few(0)", "few(2.5)", "few(4097)", "ascending(1)", "scaled(0.5)", "scaled(1e9)"}) {
    INFO(text);
    CHECK_FALSE(recipe_of(text));
  }
}
