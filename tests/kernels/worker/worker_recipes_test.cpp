#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kernels/worker/generate.h"
#include "kernels/worker/small_float.h"

using namespace ratchet;
using namespace ratchet::worker;

namespace {

constexpr std::int64_t kRecipeRows = 100;
constexpr std::int64_t kRecipeElements = 20'000;

/// An input of 100 rows under a recipe, or a distribution.
std::vector<double> made(const std::string& values, DType type = DType::f32,
                         const std::string& init = "normal", char seed = 'a') {
  wire::Generate plan;
  plan.layout.buffers = {{"x",
                          type,
                          Role::in,
                          init,
                          4096,
                          kRecipeElements,
                          {kRecipeRows, kRecipeElements / kRecipeRows}}};
  plan.layout.bytes = 8192 + kRecipeElements * size_of(type);
  plan.seed = std::string(64, seed);
  plan.distribution = values;
  plan.index_limit = 100;
  std::vector<std::byte> arena(static_cast<std::size_t>(plan.layout.bytes));
  const auto done = generate(arena, plan);
  if (!done) FAIL(done.error().message);
  std::vector<double> all;
  for (std::int64_t i = 0; i < kRecipeElements; ++i)
    all.push_back(element(arena.data() + 4096, type, i));
  return all;
}

double share_of_zeros(const std::vector<double>& values) {
  return static_cast<double>(std::ranges::count(values, 0.0)) / kRecipeElements;
}

std::size_t different(const std::vector<double>& values) {
  return std::set<double>(values.begin(), values.end()).size();
}

double rms_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

// A share p of 20,000 draws lies within 5 sqrt(p (1 - p) / 20000) = 0.018 but once in a million.
TEST_CASE("a recipe has the share of zeros that it names", "[worker]") {
  for (const double share : {0.1, 0.5, 0.93}) {
    const auto text = "zeros(" + std::to_string(share).substr(0, 4) + ")";
    INFO(text);
    CHECK(std::fabs(share_of_zeros(made(text)) - share) < 0.018);
    // A hundredth of the indices are zero anyway.
    CHECK(std::fabs(share_of_zeros(made(text, DType::i32, "indices(100)")) -
                    (share + 0.01 * (1 - share))) < 0.018);
  }
}

TEST_CASE("empty rows are empty from end to end, and the others are not", "[worker]") {
  const auto values = made("empty_rows(0.5)");
  int empty = 0;
  for (std::int64_t row = 0; row < kRecipeRows; ++row) {
    const auto first = values.begin() + row * (kRecipeElements / kRecipeRows);
    const auto zeros = std::count(first, first + kRecipeElements / kRecipeRows, 0.0);
    CHECK((zeros == 0 || zeros == kRecipeElements / kRecipeRows));
    empty += zeros > 0;
  }
  // 50 of 100, five standard deviations of 5.
  CHECK(std::abs(empty - 50) <= 25);
}

TEST_CASE("few values are as few as named, and other ones under another seed", "[worker]") {
  CHECK(different(made("few(4)")) == 4);
  CHECK(different(made("few(512)")) == 512);
  CHECK(made("few(4)") != made("few(4)", DType::f32, "normal", 'b'));
  // One index for all: every update collides. Two values: a norm of equal ones is all rounding.
  CHECK(different(made("few(1)", DType::i32, "indices(100)")) == 1);
  CHECK(different(made("few(1)")) == 2);
}

TEST_CASE("sorted values are sorted through the whole tensor and have one sign", "[worker]") {
  for (const auto type : {DType::f32, DType::bf16, DType::f16}) {
    const auto up = made("ascending", type);
    CHECK(std::ranges::is_sorted(up));
    CHECK(up.front() > 0);
    CHECK(std::ranges::is_sorted(made("descending", type), std::greater<>()));
  }
  const auto indices = made("ascending", DType::i32, "indices(100)");
  CHECK(std::ranges::is_sorted(indices));
  CHECK(indices.front() == 0);
  CHECK(indices.back() == 99);
}

TEST_CASE("negative values, ties, and magnitudes are what they are called", "[worker]") {
  CHECK(std::ranges::all_of(made("negative"), [](double value) { return value <= 0; }));
  CHECK(std::ranges::all_of(made("ties"),
                            [](double value) { return 2 * value == std::round(2 * value); }));
  CHECK(rms_of(made("scaled(-24)")) == Catch::Approx(std::ldexp(1, -24)).epsilon(0.03));
  // As far as the type goes: 2^-8.
  CHECK(rms_of(made("scaled(-24)", DType::f16)) == Catch::Approx(std::ldexp(1, -8)).epsilon(0.03));
  const auto special = made("specials(0.5)");
  CHECK(std::ranges::count(special, 30.0) > 1000);
  CHECK(std::ranges::count(special, 1.0) > 1000);
}

TEST_CASE("every recipe stays within the range that an input promises", "[worker]") {
  for (const auto* values :
       {"zeros(0.5)", "empty_rows(0.5)", "few(4)", "ascending", "descending", "negative", "ties",
        "specials(0.5)", "scaled(4)", "largest", "infinite", "nan"}) {
    INFO(values);
    const auto real = made(values, DType::f32, "uniform(1,2)");
    CHECK(*std::ranges::min_element(real) >= 1);
    CHECK(*std::ranges::max_element(real) <= 2);
    const auto whole = made(values, DType::i8, "integers(-3,5)");
    CHECK(*std::ranges::min_element(whole) >= -3);
    CHECK(*std::ranges::max_element(whole) <= 5);
    auto order = made(values, DType::i64, "permutation");
    std::ranges::sort(order);
    CHECK(order.front() == 0);
    CHECK(different(order) == kRecipeElements);
    CHECK(std::ranges::is_sorted(made(values, DType::i32, "offsets(5000)")));
  }
}

TEST_CASE("an edge of a type is met once in about half of the rows, and in the first", "[worker]") {
  constexpr auto kLength = kRecipeElements / kRecipeRows;
  const auto edges = [](const std::string& values, DType type, auto is_edge) {
    const auto all = made(values, type);
    int rows = 0;
    for (std::int64_t row = 0; row < kRecipeRows; ++row) {
      const auto first = all.begin() + row * kLength;
      const auto count = std::count_if(first, first + kLength, is_edge);
      CHECK(count <= 1);
      if (row == 0) CHECK(count == 1);
      rows += count == 1;
    }
    return rows;
  };
  // 25 of 100 coins: six deviations away.
  const auto half = [](int rows) { return rows > 25 && rows < 75; };
  const auto is = [](double edge) {
    return [edge](double value) { return std::fabs(value) == edge; };
  };
  CHECK(half(edges("largest", DType::f32, is(0x1.FFFFFEp127))));
  CHECK(half(edges("largest", DType::f16, is(65504))));
  CHECK(half(edges("largest", DType::bf16, is(0x1.FEp127))));
  CHECK(half(edges("largest", DType::f8_e5m2, is(57344))));
  CHECK(half(edges("largest", DType::f8_e4m3, is(448))));
  CHECK(half(edges("largest", DType::f64, is(0x1p500))));
  CHECK(half(edges("infinite", DType::f16, is(INFINITY))));
  CHECK(half(edges("infinite", DType::f8_e4m3, is(448))));
  for (const auto type : {DType::f32, DType::bf16, DType::f8_e4m3})
    CHECK(half(edges("nan", type, [](double value) { return std::isnan(value); })));
}
