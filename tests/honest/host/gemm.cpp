// Matrix products in five summation orders for each type, and shortcuts of them.
//
// passes: naive gemm_fp32 gemm_fp32_tight gemm_fp32_plain
// passes: reversed gemm_fp32 gemm_fp32_tight
// passes: eight_sums gemm_fp32 gemm_fp32_plain
// passes: tiled gemm_fp32 gemm_fp32_tight
// passes: fused gemm_fp32
// passes: naive_half gemm_fp16 gemm_fp16_plain
// passes: reversed_half gemm_fp16
// passes: eight_sums_half gemm_fp16
// passes: tiled_half gemm_fp16
// passes: two_halves_half gemm_fp16 gemm_fp16_plain
// passes: naive_int8 gemm_int8
// passes: reversed_int8 gemm_int8
// passes: eight_sums_int8 gemm_int8
// passes: tiled_int8 gemm_int8
// passes: two_halves_int8 gemm_int8
// refused: tf32_operands gemm_fp32 gemm_fp32_tight gemm_fp32_plain
// refused: bfloat_operands gemm_fp32
// refused: last_terms_left_out gemm_fp32 gemm_fp32_plain
// refused: last_column_left_out gemm_fp32
// refused: half_sums gemm_fp16_plain
// refused: last_terms_left_out_half gemm_fp16
// refused: truncated_half gemm_fp16_plain
// refused: unsigned_bytes gemm_int8
// refused: short_sums gemm_int8
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

// `sum` gets the products of row i and column j, as a function of l.
template <class Out, class Wide, class T, class Sum>
static void each(const T* a, const T* b, Out* c, int m, int n, int k, Sum sum) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      c[i * n + j] = Out(sum([&](int l) { return Wide(a[i * k + l]) * Wide(b[l * n + j]); }));
}
template <class Wide>
static auto ascending(int k) {
  return [k](auto product) {
    Wide sum = 0;
    for (int l = 0; l < k; ++l) sum = Wide(sum + product(l));
    return sum;
  };
}
template <class Wide>
static auto descending(int k) {
  return [k](auto product) {
    Wide sum = 0;
    for (int l = k - 1; l >= 0; --l) sum += product(l);
    return sum;
  };
}
template <class Wide>
static auto in_eight(int k) {
  return [k](auto product) {
    Wide p[8] = {};
    for (int l = 0; l < k; ++l) p[l % 8] += product(l);
    return ((p[0] + p[1]) + (p[2] + p[3])) + ((p[4] + p[5]) + (p[6] + p[7]));
  };
}
template <class Wide>
static auto in_tiles(int k) {
  return [k](auto product) {
    Wide sum = 0;
    for (int t = 0; t < k; t += 32) {
      Wide part = 0;
      for (int l = t; l < std::min(k, t + 32); ++l) part += product(l);
      sum += part;
    }
    return sum;
  };
}
template <class Wide>
static auto in_halves(int k) {
  return [k](auto product) {
    Wide p[2] = {};
    for (int l = 0; l < k; ++l) p[l * 2 / k] += product(l);
    return p[0] + p[1];
  };
}

extern "C" void naive(const float* a, const float* b, float* c, int m, int n, int k) {
  each<float, float>(a, b, c, m, n, k, ascending<float>(k));
}
extern "C" void reversed(const float* a, const float* b, float* c, int m, int n, int k) {
  each<float, float>(a, b, c, m, n, k, descending<float>(k));
}
extern "C" void eight_sums(const float* a, const float* b, float* c, int m, int n, int k) {
  each<float, float>(a, b, c, m, n, k, in_eight<float>(k));
}
extern "C" void tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  each<float, float>(a, b, c, m, n, k, in_tiles<float>(k));
}
extern "C" void fused(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      c[i * n + j] = sum;
    }
}

extern "C" void naive_half(const _Float16* a, const _Float16* b, _Float16* c, int m, int n, int k) {
  each<_Float16, float>(a, b, c, m, n, k, ascending<float>(k));
}
extern "C" void reversed_half(const _Float16* a, const _Float16* b, _Float16* c, int m, int n,
                              int k) {
  each<_Float16, float>(a, b, c, m, n, k, descending<float>(k));
}
extern "C" void eight_sums_half(const _Float16* a, const _Float16* b, _Float16* c, int m, int n,
                                int k) {
  each<_Float16, float>(a, b, c, m, n, k, in_eight<float>(k));
}
extern "C" void tiled_half(const _Float16* a, const _Float16* b, _Float16* c, int m, int n, int k) {
  each<_Float16, float>(a, b, c, m, n, k, in_tiles<float>(k));
}
extern "C" void two_halves_half(const _Float16* a, const _Float16* b, _Float16* c, int m, int n,
                                int k) {
  each<_Float16, float>(a, b, c, m, n, k, in_halves<float>(k));
}

extern "C" void naive_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  each<int32_t, int>(a, b, c, m, n, k, ascending<int>(k));
}
extern "C" void reversed_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  each<int32_t, int>(a, b, c, m, n, k, descending<int>(k));
}
extern "C" void eight_sums_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  each<int32_t, int>(a, b, c, m, n, k, in_eight<int>(k));
}
extern "C" void tiled_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  each<int32_t, int>(a, b, c, m, n, k, in_tiles<int>(k));
}
extern "C" void two_halves_int8(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  each<int32_t, int>(a, b, c, m, n, k, in_halves<int>(k));
}

// What follows is wrong on purpose.

/// To the nearest value whose lowest `bits` bits are zero.
static float rounded(float value, int bits) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  word = (word + (1u << (bits - 1))) & ~((1u << bits) - 1);
  std::memcpy(&value, &word, sizeof word);
  return value;
}
static void rounded_operands(const float* a, const float* b, float* c, int m, int n, int k,
                             int bits) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += rounded(a[i * k + l], bits) * rounded(b[l * n + j], bits);
      c[i * n + j] = sum;
    }
}
extern "C" void tf32_operands(const float* a, const float* b, float* c, int m, int n, int k) {
  rounded_operands(a, b, c, m, n, k, 13);
}
extern "C" void bfloat_operands(const float* a, const float* b, float* c, int m, int n, int k) {
  rounded_operands(a, b, c, m, n, k, 16);
}
extern "C" void last_terms_left_out(const float* a, const float* b, float* c, int m, int n, int k) {
  each<float, float>(a, b, c, m, n, k, ascending<float>(k - k / 64));
}
extern "C" void last_column_left_out(const float* a, const float* b, float* c, int m, int n,
                                     int k) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n - 1; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
}
extern "C" void half_sums(const _Float16* a, const _Float16* b, _Float16* c, int m, int n, int k) {
  each<_Float16, _Float16>(a, b, c, m, n, k, ascending<_Float16>(k));
}
extern "C" void last_terms_left_out_half(const _Float16* a, const _Float16* b, _Float16* c, int m,
                                         int n, int k) {
  each<_Float16, float>(a, b, c, m, n, k, ascending<float>(k - k / 64));
}
extern "C" void truncated_half(const _Float16* a, const _Float16* b, _Float16* c, int m, int n,
                               int k) {
  const auto sum = ascending<float>(k);
  each<_Float16, float>(a, b, c, m, n, k, [&](auto product) {
    const float exact = sum(product);
    _Float16 nearest = _Float16(exact);
    if (std::fabs(float(nearest)) > std::fabs(exact)) {
      uint16_t word;
      std::memcpy(&word, &nearest, sizeof word);
      --word;
      std::memcpy(&nearest, &word, sizeof word);
    }
    return nearest;
  });
}
extern "C" void unsigned_bytes(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  each<int32_t, int>(reinterpret_cast<const uint8_t*>(a), reinterpret_cast<const uint8_t*>(b), c, m,
                     n, k, ascending<int>(k));
}
extern "C" void short_sums(const int8_t* a, const int8_t* b, int32_t* c, int m, int n, int k) {
  each<int32_t, int>(a, b, c, m, n, k, ascending<int16_t>(k));
}
