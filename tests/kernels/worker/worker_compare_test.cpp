#include "kernels/worker/compare.h"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/worker/small_float.h"

using namespace ratchet;
using namespace ratchet::worker;

namespace {

constexpr std::int64_t kComparedElements = 16;

/// Three arenas with one input x and one output y, all answers right: y = 1, 2, 3, …
struct Bench {
  wire::Compare plan;
  std::vector<std::byte> sent, returned, expected;

  explicit Bench(DType type = DType::f32,
                 wire::Tolerance tolerance = {1e-3, 1e-2, wire::AtolScale::absolute, false}) {
    const std::int64_t bytes = kComparedElements * size_of(type);
    plan.layout.buffers = {{"x", type, Role::in, "normal", 64, kComparedElements},
                           {"y", type, Role::out, "normal", 256, kComparedElements}};
    plan.layout.bytes = 256 + bytes + 64;
    plan.tolerances = {tolerance, tolerance};
    sent.assign(static_cast<std::size_t>(plan.layout.bytes), std::byte{0x5A});
    returned = expected = sent;
    for (std::int64_t i = 0; i < kComparedElements; ++i) {
      answer(expected, i, static_cast<double>(i + 1));
      answer(returned, i, static_cast<double>(i + 1));
    }
  }

  void answer(std::vector<std::byte>& arena, std::int64_t i, double value) {
    set_element(arena.data() + 256, plan.layout.buffers[1].dtype, i, value);
  }

  [[nodiscard]] wire::Comparison judged() const {
    return compare({sent, returned, expected}, plan);
  }
};

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("equal answers pass with no error", "[worker]") {
  const auto verdict = Bench().judged();

  CHECK(verdict.passed);
  CHECK(verdict.outputs.at(0).max_abs == 0);
  CHECK(verdict.outputs.at(0).elements == kComparedElements);
}

TEST_CASE("an element passes up to atol plus rtol times the expected value", "[worker]") {
  Bench bench;  // for 4: 0.001 + 0.01 * 4 = 0.041
  bench.answer(bench.returned, 3, 4.0405);
  CHECK(bench.judged().passed);

  bench.answer(bench.returned, 3, 4.0415);

  const auto verdict = bench.judged();
  CHECK_FALSE(verdict.passed);
  CHECK(verdict.outputs.at(0).mismatches == 1);
  CHECK(verdict.outputs.at(0).first_bad == 3);
}

TEST_CASE("NaN passes only against NaN and infinity only against the same", "[worker]") {
  const auto passes = [](double got, double expected) {
    Bench bench(DType::f32, {1e30, 1e30, wire::AtolScale::absolute, false});
    bench.answer(bench.returned, 0, got);
    bench.answer(bench.expected, 0, expected);
    return bench.judged().passed;
  };
  CHECK(passes(kNaN, kNaN));
  CHECK(passes(kInfinity, kInfinity));
  CHECK_FALSE(passes(kNaN, 1));
  CHECK_FALSE(passes(1, kNaN));
  CHECK_FALSE(passes(kInfinity, 1));
  CHECK_FALSE(passes(1, kInfinity));
  CHECK_FALSE(passes(-kInfinity, kInfinity));
  CHECK_FALSE(passes(kNaN, kInfinity));
}

TEST_CASE("atol follows the RMS of the expected values when it is told to", "[worker]") {
  // Expected 1 … 16: RMS = sqrt(1496 / 16) = 9.67. An error of 0.005 on the first element:
  // too much for 0.001, little for 0.001 * 9.67.
  const auto passes = [](wire::AtolScale scale) {
    Bench bench(DType::f32, {1e-3, 0, scale, false});
    bench.answer(bench.returned, 0, 1.005);
    return bench.judged().passed;
  };
  CHECK_FALSE(passes(wire::AtolScale::absolute));
  CHECK(passes(wire::AtolScale::rms));
  CHECK_FALSE(passes(wire::AtolScale::shrink));  // min(1, 9.67) = 1
}

TEST_CASE("answers below the smallest normal number may be flushed or rounded by term",
          "[worker]") {
  const auto passes = [](DType type, double expected, double got) {
    wire::Tolerance tolerance{1e-4, 1e-4, wire::AtolScale::rms, false};
    tolerance.flush = true;
    Bench bench(type, tolerance);
    for (std::int64_t i = 0; i < kComparedElements; ++i) {
      bench.answer(bench.expected, i, expected);
      bench.answer(bench.returned, i, got);
    }
    return bench.judged().passed;
  };
  // Two terms, each rounded to a multiple of 2^-149; all flushed to zero.
  CHECK(passes(DType::f32, 0x1p-149, 3 * 0x1p-149));
  CHECK(passes(DType::f32, 0x1p-130, 0));
  CHECK(passes(DType::f16, 0x1p-20, 0x1p-20 + 0x1p-24));
  CHECK_FALSE(passes(DType::f32, 0x1p-120, 0));
  CHECK_FALSE(passes(DType::f32, 0x1p-120, 0x1.1p-120));
  CHECK_FALSE(passes(DType::f16, 0x1p-20, 0x1p-20 + 0x1p-23));
}

TEST_CASE("a tolerance of zero stays zero for the smallest numbers", "[worker]") {
  Bench bench(DType::f32, {0, 0, wire::AtolScale::absolute, false});
  bench.answer(bench.expected, 0, 0x1p-149);
  bench.answer(bench.returned, 0, 0x1p-148);

  CHECK_FALSE(bench.judged().passed);
}

TEST_CASE("integers must be equal", "[worker]") {
  Bench bench(DType::i32, {0, 0, wire::AtolScale::absolute, true});
  CHECK(bench.judged().passed);

  bench.answer(bench.returned, 5, 7);

  CHECK(bench.judged().outputs.at(0).mismatches == 1);
}

TEST_CASE("remaining poison counts as unwritten", "[worker]") {
  Bench bench;
  for (std::size_t i = 256; i < 264; ++i) bench.returned[i] = bench.sent[i];  // two floats

  const auto verdict = bench.judged();

  CHECK(verdict.states.at(0).unwritten == 2);
  CHECK_FALSE(verdict.passed);
}

TEST_CASE("wrong bytes that equal the poison by chance are not called unwritten", "[worker]") {
  // 512 of 1024 bytes are wrong: two of them, 512/256, hold the poison's 0x5A by chance.
  const auto unwritten = [](std::int64_t poisoned) {
    constexpr std::int64_t kBytes = 1024;
    wire::Compare plan;
    plan.layout.buffers = {{"y", DType::i8, Role::out, "normal", 0, kBytes}};
    plan.layout.bytes = kBytes;
    plan.tolerances = {{0, 0, wire::AtolScale::absolute, true}};
    const std::vector<std::byte> sent(kBytes, std::byte{0x5A}), expected(kBytes);
    auto returned = expected;
    for (std::size_t i = 0; i < 512; ++i)
      returned[i] = static_cast<std::int64_t>(i) < poisoned ? std::byte{0x5A} : std::byte{1};
    return compare({sent, returned, expected}, plan).states.at(0).unwritten;
  };
  CHECK(unwritten(2) == 0);
  CHECK(unwritten(64) == 64);
  CHECK(unwritten(512) == 512);
}

TEST_CASE("one changed bit in a guard or an input fails a right answer", "[worker]") {
  Bench guard;
  guard.returned[static_cast<std::size_t>(guard.plan.layout.bytes) - 1] ^= std::byte{1};
  CHECK_FALSE(guard.judged().passed);
  CHECK(guard.judged().touched == "y");

  Bench input;
  input.returned[64] ^= std::byte{1};
  CHECK_FALSE(input.judged().passed);
  CHECK_FALSE(input.judged().inputs_intact);
  CHECK(input.judged().touched == "x");
}

TEST_CASE("a task without outputs never passes", "[worker]") {
  Bench bench;
  bench.plan.layout.buffers.pop_back();
  bench.returned = bench.sent;

  CHECK_FALSE(bench.judged().passed);
}

TEST_CASE("a matched ratio allows that many elements to differ, and no more", "[worker]") {
  Bench bench;  // 16 elements: 0.9 lets one be wrong (1.6), not two
  bench.plan.tolerances.at(1).matched_ratio = 0.9;
  bench.answer(bench.returned, 3, 40);

  const auto verdict = bench.judged();
  CHECK(verdict.passed);
  CHECK(verdict.outputs.at(0).matched == 1 - 1.0 / 16);
  CHECK(verdict.outputs.at(0).mismatches == 1);

  bench.answer(bench.returned, 4, 50);
  CHECK_FALSE(bench.judged().passed);
}

TEST_CASE("few elements may lie in the tail of honest errors, none beyond twice as much",
          "[worker]") {
  const auto passes = [](std::vector<std::pair<std::int64_t, double>> answers, double tail = 0.1) {
    Bench bench;  // a tenth of 16 elements: one; for 4 the allowed error is 0.041
    bench.plan.tolerances.at(1).tail = tail;
    for (const auto& [i, value] : answers) bench.answer(bench.returned, i, value);
    return bench.judged().passed;
  };
  CHECK(passes({{3, 4.08}}));
  CHECK_FALSE(passes({{3, 4.08}}, 0));
  CHECK_FALSE(passes({{3, 4.08}, {4, 5.08}}));
  CHECK_FALSE(passes({{3, 4.09}}));
  CHECK_FALSE(passes({{3, kNaN}}));
  CHECK_FALSE(passes({{3, 4.08}}, 0x1p-20));
}

TEST_CASE("no matched ratio excuses NaN, infinity or unwritten elements", "[worker]") {
  const auto passes = [](double value) {
    Bench bench;
    bench.plan.tolerances.at(1).matched_ratio = 0.5;
    bench.answer(bench.returned, 3, value);
    return bench.judged().passed;
  };
  CHECK(passes(1000));
  CHECK_FALSE(passes(kNaN));
  CHECK_FALSE(passes(kInfinity));

  Bench unwritten;
  unwritten.plan.tolerances.at(1).matched_ratio = 0.5;
  for (std::size_t i = 256; i < 260; ++i) unwritten.returned[i] = unwritten.sent[i];
  CHECK_FALSE(unwritten.judged().passed);
}

namespace {

/// 1024 outputs of about 1 in float16, with their shadow.
struct ShadowBench {
  static constexpr std::int64_t kCount = 1024;
  wire::Compare plan;
  std::vector<std::byte> sent, returned, expected, shadow;

  ShadowBench() {
    plan.layout.buffers = {{"y", DType::f16, Role::out, "normal", 64, kCount, {kCount}}};
    plan.layout.bytes = 64 + 2 * kCount + 64;
    plan.wide = wire::ArenaLayout{};
    plan.wide->buffers = {{"y", DType::f64, Role::out, "normal", 64, kCount, {kCount}}};
    plan.wide->bytes = 64 + 8 * kCount;
    wire::Tolerance tolerance{1e-2, 1e-2, wire::AtolScale::rms, false};
    tolerance.honest = 4;
    tolerance.noise = 4;
    tolerance.bias = 0.5;
    plan.tolerances = {tolerance};
    sent.assign(static_cast<std::size_t>(plan.layout.bytes), std::byte{0x5A});
    returned = expected = sent;
    shadow.resize(static_cast<std::size_t>(plan.wide->bytes));
    for (std::int64_t i = 0; i < kCount; ++i) {
      const double value = 1 + static_cast<double>(i * 389 % kCount) / kCount;
      set_element(shadow.data() + 64, DType::f64, i, value + 0x1p-13);
      set_element(expected.data() + 64, DType::f16, i, value + 0x1p-13);
      set_element(returned.data() + 64, DType::f16, i, value + 0x1p-13);
    }
  }

  /// Moves every answer by `error(index)`.
  template <class Error>
  [[nodiscard]] wire::OutputState judged(const Error& error) {
    for (std::int64_t i = 0; i < kCount; ++i) {
      const double value = element(shadow.data() + 64, DType::f64, i);
      set_element(returned.data() + 64, DType::f16, i, value + error(i));
    }
    return compare({sent, returned, expected, shadow}, plan).states.at(0);
  }
};

}  // namespace

TEST_CASE("16-bit errors within every element's tolerance are too much together", "[worker]") {
  ShadowBench bench;
  const auto sign = [](std::int64_t i) { return i % 2 == 0 ? 1.0 : -1.0; };

  CHECK(bench.judged([](std::int64_t) { return 0.0; }).right);
  CHECK(bench.judged([&](std::int64_t i) { return sign(i) * 0x1p-10; }).right);
  const auto noisy = bench.judged([&](std::int64_t i) { return sign(i) * 0x1p-8; });
  CHECK_FALSE(noisy.right);
  CHECK(noisy.noise.value_or(0) > 4);
}

TEST_CASE("errors that lean one way are reported, those of roundings are not", "[worker]") {
  ShadowBench bench;

  CHECK_FALSE(bench.judged([](std::int64_t) { return 0.0; }).bias);
  CHECK(bench.judged([](std::int64_t) { return -0x1p-10; }).bias.value_or(0) < -0.5);
}

TEST_CASE("a shadow that computes something else is ignored", "[worker]") {
  ShadowBench bench;
  for (std::int64_t i = 0; i < ShadowBench::kCount; ++i)
    set_element(bench.shadow.data() + 64, DType::f64, i, 7);

  CHECK(compare({bench.sent, bench.expected, bench.expected, bench.shadow}, bench.plan).passed);
}

TEST_CASE("elements that a reference only copies do not vouch for its shadow", "[worker]") {
  ShadowBench bench;
  for (std::int64_t i = 0; i < ShadowBench::kCount; ++i) {
    const double value = element(bench.shadow.data() + 64, DType::f64, i) - 0x1p-13;
    set_element(bench.expected.data() + 64, DType::f16, i, value);  // as it is
    // The others are rounded inside, which float64 does not do.
    set_element(bench.shadow.data() + 64, DType::f64, i, i < 5 ? value + 1 : value);
  }

  CHECK(compare({bench.sent, bench.expected, bench.expected, bench.shadow}, bench.plan).passed);
}

TEST_CASE("a naive reference does not refuse what is nearer to the truth than itself", "[worker]") {
  ShadowBench bench;
  bench.plan.tolerances[0] = {1e-5, 0, wire::AtolScale::absolute, false};
  bench.plan.tolerances[0].honest = 4;
  std::vector<std::byte> truth = bench.expected;
  for (std::int64_t i = 0; i < ShadowBench::kCount; ++i)  // the reference is 2^-9 off, or not
    set_element(bench.expected.data() + 64, DType::f16, i,
                element(truth.data() + 64, DType::f16, i) + (i == 5 ? 0x1p-9 : 0));
  bench.plan.tolerances[0].atol = 6e-4;

  CHECK(compare({bench.sent, truth, bench.expected, bench.shadow}, bench.plan).passed);
  bench.plan.wide.reset();
  CHECK_FALSE(compare({bench.sent, truth, bench.expected, {}}, bench.plan).passed);
}

namespace {

/// Four rows of 64 answers: the first of a magnitude of its own, with a zero at its end; ones.
struct Rows {
  static constexpr std::int64_t kCols = 64, kRows = 4;
  wire::Compare plan;
  std::vector<std::byte> sent, expected;

  explicit Rows(double first) {
    plan.layout.buffers = {
        {"y", DType::f32, Role::out, "normal", 64, kRows * kCols, {kRows, kCols}}};
    plan.layout.bytes = 64 + 4 * kRows * kCols + 64;
    sent.assign(static_cast<std::size_t>(plan.layout.bytes), std::byte{0x5A});
    expected = sent;
    for (std::int64_t i = 0; i < kRows * kCols; ++i)
      set_element(expected.data() + 64, DType::f32, i, i < kCols - 1 ? first : i < kCols ? 0 : 1);
  }

  [[nodiscard]] bool passes(wire::AtolScale scale, std::int64_t at, double got) {
    plan.tolerances = {{1e-3, 0, scale, false}};
    auto returned = expected;
    set_element(returned.data() + 64, DType::f32, at, got);
    return compare({sent, returned, expected, {}}, plan).passed;
  }
};

}  // namespace

TEST_CASE("rows of very different size are judged by their own size", "[worker]") {
  Rows rows(1e6);

  CHECK_FALSE(rows.passes(wire::AtolScale::row, 3 * Rows::kCols, 1.01));
  CHECK(rows.passes(wire::AtolScale::rms, 3 * Rows::kCols, 1.01));
}

TEST_CASE("a row that is larger than the others is judged by its own size", "[worker]") {
  Rows rows(8);  // RMS 7.94 of the row, 4.06 of all: 0.006 is within a thousandth of the first

  CHECK(rows.passes(wire::AtolScale::row, Rows::kCols - 1, 0.006));
  CHECK_FALSE(rows.passes(wire::AtolScale::row, Rows::kCols - 1, 0.009));
  CHECK_FALSE(rows.passes(wire::AtolScale::row, 3 * Rows::kCols, 1.006));
  CHECK_FALSE(rows.passes(wire::AtolScale::rms, Rows::kCols - 1, 0.006));
}
