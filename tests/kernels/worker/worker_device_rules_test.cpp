// The judge's device code (kernels/cuda) as one thread of the processor runs it, beside the judge
// on the processor. tests/gpu/judges.cpp compares them on a GPU.

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/worker/combine.h"
#include "kernels/worker/compare.h"
#include "kernels/worker/compare_rules.h"
#include "kernels/worker/describe.h"
#include "kernels/worker/small_float.h"
#include "server/facts/unit_roundoff.h"

// What the device code takes from CUDA, for a grid of one thread.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#define __device__ [[maybe_unused]]
#define __global__ [[maybe_unused]]
#define __shared__ static

namespace device {
namespace {

using std::fabs, std::fmax, std::fmin, std::ilogb, std::isfinite, std::isinf, std::isnan,
    std::ldexp, std::max, std::min, std::nan, std::rint, std::signbit;

struct Index {
  unsigned x;
};
constexpr Index threadIdx{0}, blockIdx{0}, blockDim{1}, gridDim{1};
struct uint4 {
  unsigned x, y, z, w;
};

double __longlong_as_double(long long bits) {
  return std::bit_cast<double>(bits);
}
long long __double_as_longlong(double value) {
  return std::bit_cast<long long>(value);
}
float __uint_as_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
double __dmul_rn(double a, double b) {
  return a * b;
}
double __dadd_rn(double a, double b) {
  return a + b;
}
template <class Value>
Value __shfl_xor_sync(unsigned, Value, int) {
  return 0;  // of a thread that is not there
}
int __shfl_sync(unsigned, int value, int) {
  return value;
}
unsigned __ballot_sync(unsigned, bool is) {
  return is ? 1 : 0;
}
int __ffs(int bits) {
  return bits & 1;
}
int __popc(unsigned bits) {
  return std::popcount(bits);
}
void __syncthreads() {}
template <class Value>
void atomicAdd(Value* to, Value value) {
  *to += value;
}
template <class Value>
void atomicMax(Value* to, Value value) {
  *to = std::max(*to, value);
}
template <class Value>
void atomicMin(Value* to, Value value) {
  *to = std::min(*to, value);
}

}  // namespace

#include "kernels/cuda/judge_arenas.cuh"

}  // namespace device
#undef __device__
#undef __global__
#undef __shared__
#pragma GCC diagnostic pop

using namespace ratchet;
using namespace ratchet::worker;

namespace {

constexpr std::int64_t kRuled = 4096;
constexpr DType kRuledTypes[] = {DType::f16, DType::bf16,    DType::f32,
                                 DType::f64, DType::f8_e4m3, DType::f8_e5m2};

const unsigned char* ruled_bytes(const std::vector<std::byte>& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* ruled_bytes(std::vector<std::byte>& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}
device::Type ruled_type(DType type) {
  return static_cast<device::Type>(type);
}

/// One output, what was expected of it, and what is beside that.
struct RuledOutput {
  wire::Compare plan;
  std::vector<std::byte> sent, returned, expected, shadow, terms;

  /// `bias`: of the returned values, in roundings; `spread` likewise, random.
  RuledOutput(DType type, wire::Tolerance tolerance, double bias, double spread) {
    plan.layout = {kRuled * size_of(type), {{"y", type, Role::out, "normal", 0, kRuled, {kRuled}}}};
    plan.tolerances = {tolerance};
    const auto bytes = static_cast<std::size_t>(plan.layout.bytes);
    sent.assign(bytes, std::byte{0x5A});
    returned = expected = terms = sent;
    shadow.resize(kRuled * sizeof(double));
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    const double unit = unit_roundoff(type);
    for (std::int64_t i = 0; i < kRuled; ++i) {
      const double value = std::ldexp(normal(random), -static_cast<int>(random() % 12));
      set_element(expected.data(), type, i, value * (1 + 0.5 * unit * normal(random)));
      set_element(returned.data(), type, i, value * (1 + unit * (bias + spread * normal(random))));
      set_element(terms.data(), type, i, 1000 * value);
      set_element(shadow.data(), DType::f64, i, i % 97 == 0 ? std::nan("") : value);
      if (i % 89 == 0) set_element(returned.data(), type, i, 0);
    }
  }

  void with_shadow() {
    plan.wide = {{kRuled * 8, {{"y", DType::f64, Role::out, "normal", 0, kRuled}}}};
  }

  [[nodiscard]] wire::Comparison ours() const {
    return compare({sent, returned, expected, shadow, terms}, plan);
  }

  /// As device_errors.cpp asks the device, with a scale of 1 for all.
  [[nodiscard]] wire::Comparison theirs() const {
    const auto& buffer = plan.layout.buffers[0];
    const auto& tolerance = plan.tolerances[0];
    device::Output output{};
    output.sent = ruled_bytes(sent);
    output.got = ruled_bytes(returned);
    output.expected = ruled_bytes(expected);
    if (plan.with_terms) output.terms = ruled_bytes(terms);
    output.count = kRuled;
    output.type = static_cast<device::Word>(buffer.dtype);
    output.row = 1;
    output.atol = tolerance.atol;
    output.rtol = tolerance.rtol;
    output.scale = 1;
    output.least = least_error(tolerance, buffer.dtype);
    output.of_terms = tolerance.terms;
    output.honest_times = tolerance.honest;
    output.unit = unit_roundoff(buffer.dtype);
    output.far_from_shadow = kFarFromShadow;
    output.only_honest = tolerance.only_honest;
    output.flush = tolerance.flush;
    double squares = 0;
    for (std::int64_t i = 0; i < kRuled; ++i) {
      const double value = element(expected.data(), buffer.dtype, i);
      squares += value * value;
    }
    output.rough_below =
        rough_below(buffer.dtype, std::sqrt(squares / static_cast<double>(kRuled)), output.least);
    std::array<double, kBinades> honest{};
    if (plan.wide) {
      output.shadow = reinterpret_cast<const double*>(shadow.data());
      device::Sampled sampled{};
      device::sample_far(output, static_cast<device::Word>(shadow_sample_step(kRuled)), &sampled);
      if (!is_shadow(static_cast<std::int64_t>(sampled.far),
                     static_cast<std::int64_t>(sampled.seen)))
        output.shadow = nullptr;
    }
    if (output.shadow) {
      device::Binades binades{};
      device::measure_honesty(output, &binades);
      honest = honest_errors(std::bit_cast<Binades>(binades));
      output.honest = honest.data();
    }
    device::Tally tally{};
    tally.first_bad = ~device::Word{0};
    for (device::Word i = 0; i < output.count; ++i) device::judge_element(output, i, tally);
    const auto number = [](device::Word count) { return static_cast<std::int64_t>(count); };
    Counts counts{tally.max_abs,
                  tally.max_rel,
                  tally.sum_abs,
                  number(tally.finite),
                  number(tally.mismatches),
                  number(tally.far),
                  number(tally.unwritten),
                  number(tally.unexpected),
                  {}};
    if (counts.mismatches > 0) counts.first_bad = number(tally.first_bad);
    wire::Comparison verdict;
    add_output(buffer, counts, tolerance, verdict);
    judge_whole({{tally.squares, tally.inwards, tally.honest, tally.rounding, number(tally.small),
                  number(tally.flushed)},
                 counts.finite,
                 output.shadow != nullptr,
                 output.least},
                tolerance, verdict.states.back());
    return verdict;
  }
};

void check_same_verdict(const wire::Comparison& ours, const wire::Comparison& theirs) {
  const auto &a = ours.outputs.at(0), &b = theirs.outputs.at(0);
  CHECK(a.mismatches == b.mismatches);
  CHECK(a.first_bad == b.first_bad);
  CHECK(a.max_abs == b.max_abs);
  CHECK(a.max_rel == b.max_rel);
  const auto near = [](const std::optional<double>& one, const std::optional<double>& other) {
    return one.has_value() == other.has_value() &&
           (!one || std::fabs(*one - *other) <= 1e-9 * std::fabs(*one));
  };
  const auto &s = ours.states.at(0), &t = theirs.states.at(0);
  CHECK(s.right == t.right);
  CHECK(s.flushed == t.flushed);
  CHECK(near(s.noise, t.noise));
  CHECK(near(s.bias, t.bias));
}

}  // namespace

TEST_CASE("the device's rules are those of the processor, with a shadow and without",
          "[worker][device-rules]") {
  int passed = 0, failed = 0;
  for (const auto type : kRuledTypes)
    for (const auto& [bias, spread] : {std::pair{0.0, 0.5}, {-0.9, 0.1}, {0.0, 9.0}})
      for (const bool shadow : {false, true})
        for (const bool terms : {false, true})
          for (const bool only_honest : {false, true}) {
            const double near = 4 * unit_roundoff(type);
            wire::Tolerance tolerance{
                near / 16, near, wire::AtolScale::absolute, false, 4, only_honest, 4, 0.5};
            tolerance.flush = true;
            tolerance.terms = terms ? unit_roundoff(type) / 100 : 0;
            RuledOutput arena(type, tolerance, bias, spread);
            if (shadow) arena.with_shadow();
            arena.plan.with_terms = terms;
            INFO(name_of(type) << " bias " << bias << " spread " << spread << " shadow " << shadow
                               << " terms " << terms << " only honest " << only_honest);
            const auto ours = arena.ours();
            check_same_verdict(ours, arena.theirs());
            ++(ours.states[0].right ? passed : failed);
          }
  CHECK(passed > 0);
  CHECK(failed > 0);
}

TEST_CASE("the device widens, adds up and takes magnitudes as the processor does",
          "[worker][device-rules]") {
  for (const auto type : kRuledTypes) {
    INFO(name_of(type));
    std::vector<std::byte> one(static_cast<std::size_t>(kRuled * size_of(type))), other(one.size());
    std::mt19937_64 random(3);
    for (auto* bytes : {&one, &other})  // all codes, infinite ones and NaN too
      std::ranges::generate(*bytes, [&] { return static_cast<std::byte>(random()); });
    const wire::ArenaLayout layout{kRuled * size_of(type),
                                   {{"x", type, Role::in, "normal", 0, kRuled, {kRuled}}}};
    const auto same = [&](const std::vector<std::byte>& a, const std::vector<std::byte>& b,
                          DType of) {
      for (std::int64_t i = 0; i < kRuled; ++i) {
        const double x = element(a.data(), of, i), y = element(b.data(), of, i);
        if (!(std::isnan(x) && std::isnan(y)) && !(x == y && std::signbit(x) == std::signbit(y)))
          return false;
      }
      return true;
    };
    auto sums = one, ours = one;
    combine({layout, {"x"}}, one, other, ours);
    device::combine(ruled_bytes(sums), ruled_type(type), kRuled, ruled_bytes(other));
    CHECK(same(ours, sums, type));

    auto sizes = one;
    combine({layout, {"x"}, wire::Combination::magnitudes}, one, one, ours);
    device::combine(ruled_bytes(sizes), ruled_type(type), kRuled, nullptr);
    CHECK(same(ours, sizes, type));

    std::vector<std::byte> wide(kRuled * sizeof(double)), theirs(wide.size());
    widen({layout, {kRuled * 8, {{"x", DType::f64, Role::in, "normal", 0, kRuled}}}}, one, wide);
    device::widen(reinterpret_cast<double*>(theirs.data()), ruled_type(type), kRuled,
                  ruled_bytes(one));
    CHECK(same(wide, theirs, DType::f64));

    auto first = one, second = other;
    device::exchange(ruled_bytes(first), first.size(), ruled_bytes(second));
    CHECK(first == other);
    CHECK(second == one);
  }
}
