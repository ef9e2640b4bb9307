#include "kernels/worker/host/ceiling_loops.h"

#include <array>
#include <cstdint>

namespace ratchet::worker {
namespace {

constexpr int kChains = 10;

/// `Vector` is a GCC vector of `Real`; contraction to fused multiply-adds is left to -O3.
template <class Vector, class Real>
[[gnu::always_inline]] inline double spin(std::int64_t rounds, double& sink) {
  std::array<Vector, kChains> sums{};
  Vector factor{};
  Vector step{};
  constexpr int kLanes = sizeof(Vector) / sizeof(Real);
  for (int lane = 0; lane < kLanes; ++lane) {
    factor[lane] = Real(0.999);
    step[lane] = Real(0.001) + Real(lane) * Real(1e-6);
  }
  for (std::int64_t round = 0; round < rounds; ++round)
    for (auto& sum : sums) sum = sum * factor + step;
  for (const auto& sum : sums)
    for (int lane = 0; lane < kLanes; ++lane) sink += static_cast<double>(sum[lane]);
  return 2.0 * kChains * kLanes * static_cast<double>(rounds);
}

template <class Vector>
[[gnu::always_inline]] inline double sum_words(std::span<const double> words) {
  constexpr std::size_t kLanes = sizeof(Vector) / sizeof(double);
  constexpr std::size_t kUnrolled = 8;
  std::array<Vector, kUnrolled> sums{};
  std::size_t at = 0;
  for (; at + kLanes * kUnrolled <= words.size(); at += kLanes * kUnrolled)
    for (std::size_t i = 0; i < kUnrolled; ++i) {
      Vector part;
      __builtin_memcpy(&part, &words[at + i * kLanes], sizeof part);
      sums[i] += part;
    }
  double total = 0;
  for (; at < words.size(); ++at) total += words[at];
  for (const auto& sum : sums)
    for (std::size_t lane = 0; lane < kLanes; ++lane) total += sum[lane];
  return total;
}

using Float4 = float __attribute__((vector_size(16)));
using Double2 = double __attribute__((vector_size(16)));

#if defined(__x86_64__)
using Float8 = float __attribute__((vector_size(32)));
using Double4 = double __attribute__((vector_size(32)));
using Float16 = float __attribute__((vector_size(64)));
using Double8 = double __attribute__((vector_size(64)));

[[gnu::target("avx512f")]] double f32_512(std::int64_t rounds, double& sink) {
  return spin<Float16, float>(rounds, sink);
}
[[gnu::target("avx512f")]] double f64_512(std::int64_t rounds, double& sink) {
  return spin<Double8, double>(rounds, sink);
}
[[gnu::target("avx2,fma")]] double f32_256(std::int64_t rounds, double& sink) {
  return spin<Float8, float>(rounds, sink);
}
[[gnu::target("avx2,fma")]] double f64_256(std::int64_t rounds, double& sink) {
  return spin<Double4, double>(rounds, sink);
}
[[gnu::target("avx512f")]] double read_512(std::span<const double> words) {
  return sum_words<Double8>(words);
}
[[gnu::target("avx2")]] double read_256(std::span<const double> words) {
  return sum_words<Double4>(words);
}

enum class Width { baseline, avx2, avx512 };

Width widest() {
  if (__builtin_cpu_supports("avx512f")) return Width::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Width::avx2;
  return Width::baseline;
}
#endif

}  // namespace

double read_all(std::span<const double> words) {
#if defined(__x86_64__)
  if (widest() == Width::avx512) return read_512(words);
  if (widest() == Width::avx2) return read_256(words);
#endif
  return sum_words<Double2>(words);
}

double multiply_add_f32(std::int64_t rounds, double& sink) {
#if defined(__x86_64__)
  if (widest() == Width::avx512) return f32_512(rounds, sink);
  if (widest() == Width::avx2) return f32_256(rounds, sink);
#endif
  return spin<Float4, float>(rounds, sink);
}

double multiply_add_f64(std::int64_t rounds, double& sink) {
#if defined(__x86_64__)
  if (widest() == Width::avx512) return f64_512(rounds, sink);
  if (widest() == Width::avx2) return f64_256(rounds, sink);
#endif
  return spin<Double2, double>(rounds, sink);
}

}  // namespace ratchet::worker
