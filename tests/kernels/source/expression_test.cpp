#include "kernels/source/expression.h"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>

using namespace ratchet;

namespace {
const Dims kDims{{"m", 6}, {"n", 7}, {"zero", 0}};

std::string why(std::string_view text) {
  const auto value = evaluate_integer(text, kDims);
  return value ? "no error" : value.error().message;
}
}  // namespace

TEST_CASE("integer expressions follow precedence and exact division", "[expression]") {
  CHECK(*evaluate_integer("2 + m * n", kDims) == 44);  // not (2+6)*7
  CHECK(*evaluate_integer("(2 + m) * n", kDims) == 56);
  CHECK(*evaluate_integer("n / 2 * 2", kDims) == 6);   // left to right, truncated
  CHECK(*evaluate_integer("n % 4 - -m", kDims) == 9);  // 3 + 6
  CHECK(*evaluate_integer("ceil_div(n, 2)", kDims) == 4);
  CHECK(*evaluate_integer("min(m, n) + max(m, n, 20)", kDims) == 26);
  CHECK(*evaluate_integer("1e3", kDims) == 1000);
}

TEST_CASE("real expressions keep fractions", "[expression]") {
  CHECK(*evaluate("n / 2", kDims) == 3.5);
  CHECK(*evaluate("0.5 * m * n", kDims) == 21.0);
  CHECK(*evaluate("ceil_div(n, 2)", kDims) == 4.0);
}

TEST_CASE("expression errors name the offending piece", "[expression]") {
  CHECK(why("m * k").find("unknown name \"k\"; known: m, n, zero") != std::string::npos);
  CHECK(why("m / zero").find("division by zero") != std::string::npos);
  CHECK(why("m % (n - 7)").find("division by zero") != std::string::npos);
  CHECK(why("m *").find("it ends") != std::string::npos);
  CHECK(why("m n").find("unexpected \"n\"") != std::string::npos);
  CHECK(why("(m").find("\")\" is missing") != std::string::npos);
  CHECK(why("system(m)").find("unknown function \"system\"") != std::string::npos);
  CHECK(why("0.5").find("not a whole number") != std::string::npos);
  CHECK(why("").find("it ends") != std::string::npos);
}

TEST_CASE("integer overflow is an error, not a wrong size", "[expression]") {
  const Dims big{{"a", std::int64_t{1} << 62}};

  CHECK(evaluate_integer("a + (a - 1)", big).has_value());  // 2^63 - 1 still fits
  CHECK_FALSE(evaluate_integer("a + a", big));
  CHECK_FALSE(evaluate_integer("a * 2", big));
  CHECK_FALSE(evaluate_integer("(0 - a - a) / -1", big));  // -2^63 / -1
  CHECK_FALSE(evaluate("1e308 * 10", big));
}

TEST_CASE("hostile expressions are refused without exhausting the stack", "[expression]") {
  CHECK_FALSE(evaluate_integer(std::string(500, '('), kDims));
  CHECK_FALSE(evaluate_integer(std::string(500, '-') + "1", kDims));
  CHECK_FALSE(evaluate_integer(std::string(5000, '1'), kDims));
}
