#include "kernels/worker/compare.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
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
  bench.plan.matched_ratio = 0.9;
  bench.answer(bench.returned, 3, 40);

  const auto verdict = bench.judged();
  CHECK(verdict.passed);
  CHECK(verdict.outputs.at(0).matched == 1 - 1.0 / 16);
  CHECK(verdict.outputs.at(0).mismatches == 1);

  bench.answer(bench.returned, 4, 50);
  CHECK_FALSE(bench.judged().passed);
}

TEST_CASE("no matched ratio excuses NaN, infinity or unwritten elements", "[worker]") {
  const auto passes = [](double value) {
    Bench bench;
    bench.plan.matched_ratio = 0.5;
    bench.answer(bench.returned, 3, value);
    return bench.judged().passed;
  };
  CHECK(passes(1000));
  CHECK_FALSE(passes(kNaN));
  CHECK_FALSE(passes(kInfinity));

  Bench unwritten;
  unwritten.plan.matched_ratio = 0.5;
  for (std::size_t i = 256; i < 260; ++i) unwritten.returned[i] = unwritten.sent[i];
  CHECK_FALSE(unwritten.judged().passed);
}
