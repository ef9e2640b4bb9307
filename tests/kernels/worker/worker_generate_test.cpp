#include "kernels/worker/generate.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kernels/worker/small_float.h"

using namespace ratchet;
using namespace ratchet::worker;

namespace {

constexpr std::int64_t kGeneratedElements = 20'000;
const std::string kGeneratorSeed(64, 'a');

wire::Generate plan_of(DType type, const std::string& init, const std::string& distribution) {
  wire::Generate plan;
  plan.layout.buffers = {{"x", type, Role::in, init, 4096, kGeneratedElements}};
  plan.layout.bytes = 8192 + kGeneratedElements * size_of(type);
  plan.seed = kGeneratorSeed;
  plan.distribution = distribution;
  plan.index_limit = 100;
  return plan;
}

std::vector<double> values_of(const wire::Generate& plan) {
  std::vector<std::byte> arena(static_cast<std::size_t>(plan.layout.bytes));
  REQUIRE(generate(arena, plan));
  const auto& buffer = plan.layout.buffers.front();
  std::vector<double> values;
  for (std::int64_t i = 0; i < buffer.elements; ++i)
    values.push_back(element(arena.data() + buffer.offset, buffer.dtype, i));
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

// The mean of 20,000 draws of N(m, s²) lies within 5 s / sqrt(20000) = 0.035 s of m but once in a
// million; the deviation within 5 s / sqrt(40000) = 0.025 s of s.
TEST_CASE("inputs of every distribution have the stated mean and deviation", "[worker]") {
  const auto check = [](DType type, const char* distribution, double mean, double deviation) {
    const auto values = values_of(plan_of(type, "normal", distribution));
    CHECK(std::fabs(mean_of(values) - mean) < 0.04 * deviation);
    CHECK(std::fabs(deviation_of(values) - deviation) < 0.03 * deviation);
  };
  check(DType::f32, "normal", 0, 1);
  check(DType::f64, "shifted", 1, 1);
  check(DType::f32, "large", 0, 30);
  check(DType::bf16, "large", 0, 30);
  check(DType::f16, "large", 0, 10);
  check(DType::f32, "small", 0, 1.0 / 64);
}

TEST_CASE("the same seed makes the same arena, a different seed a different one", "[worker]") {
  auto plan = plan_of(DType::f32, "normal", "normal");
  const auto first = values_of(plan);
  CHECK(first == values_of(plan));

  plan.seed[31] = 'b';

  const auto other = values_of(plan);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < first.size(); ++i) equal += first[i] == other[i] ? 1U : 0U;
  CHECK(equal < 10);
}

TEST_CASE("indices stay below their limit and reach both ends", "[worker]") {
  for (const auto* distribution : {"normal", "shifted", "large", "small", "special", "sequence"}) {
    const auto values = values_of(plan_of(DType::i32, "indices(7)", distribution));
    CHECK(*std::ranges::min_element(values) == 0);
    CHECK(*std::ranges::max_element(values) < 7);
  }
  const auto ends = values_of(plan_of(DType::i32, "indices(7)", "large"));
  CHECK(std::set<double>(ends.begin(), ends.end()) == std::set<double>{0, 6});
}

TEST_CASE("a permutation contains every index once", "[worker]") {
  for (const auto* distribution : {"normal", "shifted", "large", "small", "special", "sequence"}) {
    auto values = values_of(plan_of(DType::i64, "permutation", distribution));
    // Those of the small distribution and of sequences are the identity.
    const bool identity =
        distribution == std::string("small") || distribution == std::string("sequence");
    CHECK(std::ranges::is_sorted(values) == identity);
    std::ranges::sort(values);
    for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(values[i] == static_cast<double>(i));
  }
}

TEST_CASE("offsets start at zero, never fall and end at their total", "[worker]") {
  for (const auto* distribution : {"normal", "shifted", "large", "small", "special", "sequence"}) {
    const auto values = values_of(plan_of(DType::i32, "offsets(5000)", distribution));
    CHECK(values.front() == 0);
    CHECK(values.back() == 5000);
    CHECK(std::ranges::is_sorted(values));
  }
}

TEST_CASE("a uniform range of integers includes both ends, of floats stays inside", "[worker]") {
  const auto whole = values_of(plan_of(DType::i8, "uniform(-2,1)", "normal"));
  CHECK(std::set<double>(whole.begin(), whole.end()) == std::set<double>{-2, -1, 0, 1});
  const auto real = values_of(plan_of(DType::f32, "uniform(-2,1)", "large"));
  CHECK(*std::ranges::min_element(real) >= -2);
  CHECK(*std::ranges::max_element(real) <= 1);
}

TEST_CASE("integers that are values have both signs and reach the ends of their type", "[worker]") {
  for (const auto* distribution : {"normal", "large", "special", "sequence"}) {
    const auto values = values_of(plan_of(DType::i8, "integers(-128,127)", distribution));
    CHECK(*std::ranges::min_element(values) == -128);
    CHECK(*std::ranges::max_element(values) >= 126);
  }
  const auto small = values_of(plan_of(DType::i8, "integers(-128,127)", "small"));
  CHECK(std::set<double>(small.begin(), small.end()) == std::set<double>{-3, -2, -1, 0, 1, 2, 3});
}

TEST_CASE("special values hold zeros of both signs, subnormals and ties; sequences are sorted",
          "[worker]") {
  const auto special = values_of(plan_of(DType::f32, "normal", "special"));
  const auto has = [&](auto what) { return std::ranges::any_of(special, what); };
  CHECK(has([](double x) { return x == 0 && std::signbit(x); }));
  CHECK(has([](double x) { return x == 0 && !std::signbit(x); }));
  CHECK(has([](double x) { return x != 0 && std::fabs(x) < 0x1p-126; }));
  CHECK(has([](double x) { return std::fabs(x) == 0.5; }));

  const auto half = values_of(plan_of(DType::f16, "normal", "extreme"));
  for (const double value : half) CHECK((std::fabs(value) >= 89.9 && std::fabs(value) <= 120));

  const auto sequence = values_of(plan_of(DType::f32, "normal", "sequence"));
  const auto row = sequence.size() / 8;  // a vector counts as eight rows
  bool ascends = false, above = false, below = false;
  for (std::size_t first = 0; first + row <= sequence.size(); first += row)
    ascends = ascends || (sequence[first] == -2 &&
                          std::is_sorted(sequence.begin() + static_cast<long>(first),
                                         sequence.begin() + static_cast<long>(first + row)));
  CHECK(ascends);
  for (std::size_t first = 0; first + row <= sequence.size(); first += row) {
    const std::set<double> values(sequence.begin() + static_cast<long>(first),
                                  sequence.begin() + static_cast<long>(first + row));
    above = above || (values.size() == 1 && *values.begin() > 0);
    below = below || (values.size() == 1 && *values.begin() < 0);
  }
  CHECK(above);
  CHECK(below);
}

TEST_CASE("an unknown init is refused by name", "[worker]") {
  auto plan = plan_of(DType::f32, "zipf(2)", "normal");
  std::vector<std::byte> arena(static_cast<std::size_t>(plan.layout.bytes));

  const auto done = generate(arena, plan);

  REQUIRE_FALSE(done);
  CHECK(done.error().message.find("zipf(2)") != std::string::npos);
}

TEST_CASE("small floats round to nearest even and keep special values", "[worker]") {
  const auto half = [](double v) { return decode_small(encode_small(v, kHalf), kHalf); };
  CHECK(half(1.0 + 0x1p-11) == 1.0);             // a tie: the even neighbor is 1
  CHECK(half(1.0 + 3 * 0x1p-11) == 1 + 0x1p-9);  // a tie: the even neighbor is above
  CHECK(half(65504) == 65504);                   // the largest
  CHECK(std::isinf(half(65520)));                // half a step beyond it
  CHECK(half(0x1p-24) == 0x1p-24);               // the smallest subnormal
  CHECK(std::isnan(half(std::nan(""))));
  const auto e4m3 = [](double v) { return decode_small(encode_small(v, kE4M3), kE4M3); };
  CHECK(e4m3(448) == 448);
  CHECK(e4m3(1000) == 448);           // no infinity: it saturates
  CHECK(e4m3(0.017) == 0.017578125);  // 2^-6 * 1.125, nearest of the steps of 2^-9
  CHECK(std::isnan(e4m3(std::nan(""))));
  CHECK(decode_small(encode_small(-3.14159, kBfloat), kBfloat) == -3.140625);
}

TEST_CASE("every code of the small floats survives decoding and encoding", "[worker]") {
  for (const auto format : {kHalf, kBfloat, kE4M3, kE5M2})
    for (unsigned code = 0; code < 1U << (1 + format.exponent_bits + format.mantissa_bits);
         ++code) {
      const double value = decode_small(static_cast<std::uint16_t>(code), format);
      if (!std::isnan(value)) REQUIRE(encode_small(value, format) == code);
    }
}

TEST_CASE("inputs that a function makes are left to it", "[worker]") {
  auto plan = plan_of(DType::f32, "normal", "normal");
  CHECK(deviation_of(values_of(plan)) > 0.9);

  plan.given = {"x"};

  CHECK(deviation_of(values_of(plan)) == 0);
}

TEST_CASE("throwaway inputs repeat a part, but keep what belongs together", "[worker]") {
  const auto of = [&](DType type, const char* init, std::int64_t elements) {
    auto plan = plan_of(type, init, "throwaway");
    plan.layout.buffers.front().elements = elements;
    plan.layout.bytes = 8192 + elements * size_of(type);
    return values_of(plan);
  };
  constexpr auto kPeriod = static_cast<std::ptrdiff_t>(kRepeated);

  const auto normal = of(DType::f32, "normal", kRepeated + 2048);
  CHECK(std::equal(normal.begin() + kPeriod, normal.end(), normal.begin()));
  CHECK(std::abs(mean_of(normal)) < 0.005);
  CHECK(std::abs(deviation_of(normal) - 1) < 0.005);
  // The rows of a matrix of 1,024 columns differ.
  CHECK_FALSE(std::equal(normal.begin(), normal.begin() + 1024, normal.begin() + (1 << 20)));
  const auto order = of(DType::i32, "permutation", kRepeated + 2048);
  CHECK(std::set(order.begin(), order.end()).size() == order.size());
  const auto indices = of(DType::i32, "indices(70)", 5000);
  CHECK(std::ranges::max(indices) == 69);
  CHECK(std::ranges::min(indices) == 0);
}
