// Activations, convolutions, attention, histograms and quantizers, as they are usually written, and
// shortcuts of them.
//
// passes: gelu_erf gelu
// passes: gelu_half gelu_fp16 gelu_fp16_close
// passes: silu_exact silu
// passes: silu_logistic silu
// passes: conv1d_direct conv1d
// passes: conv1d_by_tap conv1d
// passes: conv2d_direct conv2d
// passes: conv2d_separate_rows conv2d
// passes: attention_naive attention
// passes: attention_online attention
// passes: histogram_serial histogram
// passes: histogram_of_parts histogram
// passes: quantize_divide quantize
// passes: quantize_multiply quantize
// refused: gelu_tanh gelu
// refused: gelu_tanh_half gelu_fp16
// refused: gelu_without_last gelu
// refused: silu_of_relu silu
// refused: conv1d_without_last_tap conv1d
// refused: conv1d_of_bfloat conv1d
// refused: conv2d_of_tf32 conv2d
// refused: conv2d_flipped conv2d
// refused: attention_without_last_keys attention
// refused: attention_unscaled attention
// refused: attention_of_bfloat attention
// refused: histogram_without_last_tile histogram
// refused: histogram_saturates histogram
// refused: quantize_by_half_row quantize
// refused: quantize_unsigned quantize
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

/// To the nearest value whose lowest `bits` bits are zero.
static float rounded(float value, int bits) {
  if (bits == 0) return value;
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  word = (word + (1u << (bits - 1))) & ~((1u << bits) - 1);
  std::memcpy(&value, &word, sizeof word);
  return value;
}

// Activations.

static float gelu(float x) {
  return 0.5f * x * (1 + std::erf(x * 0.70710678f));
}
static float gelu_by_tanh(float x) {
  return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}
template <class T, class Function>
static void map(const T* x, T* y, int n, Function function) {
  for (int i = 0; i < n; ++i) y[i] = T(function(float(x[i])));
}
extern "C" void gelu_erf(const float* x, float* y, int n) {
  map(x, y, n, gelu);
}
extern "C" void gelu_half(const _Float16* x, _Float16* y, int n) {
  map(x, y, n, gelu);
}
extern "C" void gelu_tanh(const float* x, float* y, int n) {
  map(x, y, n, gelu_by_tanh);
}
extern "C" void gelu_tanh_half(const _Float16* x, _Float16* y, int n) {
  map(x, y, n, gelu_by_tanh);
}
extern "C" void gelu_without_last(const float* x, float* y, int n) {
  map(x, y, n - 1, gelu);
}
extern "C" void silu_exact(const float* x, float* y, int n) {
  map(x, y, n, [](float v) { return v / (1 + std::exp(-v)); });
}
extern "C" void silu_logistic(const float* x, float* y, int n) {
  map(x, y, n, [](float v) { return v * (0.5f * std::tanh(0.5f * v) + 0.5f); });
}
extern "C" void silu_of_relu(const float* x, float* y, int n) {
  map(x, y, n, [](float v) { return std::fmax(v, 0.0f); });
}

// Convolutions.

static void conv1d(const float* x, const float* w, float* y, int channels, int outs, int n,
                   int taps, int used, int bits) {
  const int wide = n - taps + 1;
  for (int o = 0; o < outs; ++o)
    for (int i = 0; i < wide; ++i) {
      float sum = 0;
      for (int c = 0; c < channels; ++c)
        for (int t = 0; t < used; ++t)
          sum += rounded(x[c * n + i + t], bits) * rounded(w[(o * channels + c) * taps + t], bits);
      y[o * wide + i] = sum;
    }
}
extern "C" void conv1d_direct(const float* x, const float* w, float* y, int channels, int outs,
                              int n, int taps) {
  conv1d(x, w, y, channels, outs, n, taps, taps, 0);
}
extern "C" void conv1d_by_tap(const float* x, const float* w, float* y, int channels, int outs,
                              int n, int taps) {
  const int wide = n - taps + 1;
  std::fill(y, y + outs * wide, 0.0f);
  for (int t = 0; t < taps; ++t)
    for (int o = 0; o < outs; ++o)
      for (int c = 0; c < channels; ++c)
        for (int i = 0; i < wide; ++i)
          y[o * wide + i] += x[c * n + i + t] * w[(o * channels + c) * taps + t];
}
extern "C" void conv1d_without_last_tap(const float* x, const float* w, float* y, int channels,
                                        int outs, int n, int taps) {
  conv1d(x, w, y, channels, outs, n, taps, taps - 1, 0);
}
extern "C" void conv1d_of_bfloat(const float* x, const float* w, float* y, int channels, int outs,
                                 int n, int taps) {
  conv1d(x, w, y, channels, outs, n, taps, taps, 16);
}

static void conv2d(const float* x, const float* f, float* y, int h, int w, bool flipped, int bits) {
  for (int i = 0; i + 2 < h; ++i)
    for (int j = 0; j + 2 < w; ++j) {
      float sum = 0;
      for (int e = 0; e < 9; ++e)
        sum +=
            rounded(x[(i + e / 3) * w + j + e % 3], bits) * rounded(f[flipped ? 8 - e : e], bits);
      y[i * (w - 2) + j] = sum;
    }
}
extern "C" void conv2d_direct(const float* x, const float* f, float* y, int h, int w) {
  conv2d(x, f, y, h, w, false, 0);
}
extern "C" void conv2d_separate_rows(const float* x, const float* f, float* y, int h, int w) {
  for (int i = 0; i + 2 < h; ++i)
    for (int j = 0; j + 2 < w; ++j) {
      float sums[3] = {};
      for (int p = 0; p < 3; ++p)
        for (int q = 0; q < 3; ++q)
          sums[p] = std::fma(x[(i + p) * w + j + q], f[p * 3 + q], sums[p]);
      y[i * (w - 2) + j] = sums[0] + sums[1] + sums[2];
    }
}
extern "C" void conv2d_of_tf32(const float* x, const float* f, float* y, int h, int w) {
  conv2d(x, f, y, h, w, false, 13);
}
extern "C" void conv2d_flipped(const float* x, const float* f, float* y, int h, int w) {
  conv2d(x, f, y, h, w, true, 0);
}

// Attention of `t` queries on as many keys of `d` elements, of which the first `keys` are used.

static void attend(const float* q, const float* k, const float* v, float* y, int t, int d, int keys,
                   float scale, int bits) {
  std::vector<float> p(keys);
  for (int i = 0; i < t; ++i) {
    float most = -INFINITY, sum = 0;
    for (int j = 0; j < keys; ++j) {
      float score = 0;
      for (int e = 0; e < d; ++e)
        score += rounded(q[i * d + e], bits) * rounded(k[j * d + e], bits);
      p[j] = score * scale;
      most = std::max(most, p[j]);
    }
    for (int j = 0; j < keys; ++j) sum += p[j] = std::exp(p[j] - most);
    for (int e = 0; e < d; ++e) {
      float out = 0;
      for (int j = 0; j < keys; ++j) out += p[j] * rounded(v[j * d + e], bits);
      y[i * d + e] = out / sum;
    }
  }
}
extern "C" void attention_naive(const float* q, const float* k, const float* v, float* y, int t,
                                int d) {
  attend(q, k, v, y, t, d, t, 1 / std::sqrt(float(d)), 0);
}
extern "C" void attention_online(const float* q, const float* k, const float* v, float* y, int t,
                                 int d) {
  std::vector<float> out(d);
  const float scale = 1 / std::sqrt(float(d));
  for (int i = 0; i < t; ++i) {
    float most = -INFINITY, sum = 0;
    std::fill(out.begin(), out.end(), 0.0f);
    for (int j = 0; j < t; ++j) {
      float score = 0;
      for (int e = 0; e < d; ++e) score += q[i * d + e] * scale * k[j * d + e];
      const float next = std::max(most, score), back = std::exp(most - next);
      const float p = std::exp(score - next);
      sum = sum * back + p;
      for (int e = 0; e < d; ++e) out[e] = out[e] * back + p * v[j * d + e];
      most = next;
    }
    for (int e = 0; e < d; ++e) y[i * d + e] = out[e] / sum;
  }
}
extern "C" void attention_without_last_keys(const float* q, const float* k, const float* v,
                                            float* y, int t, int d) {
  attend(q, k, v, y, t, d, t - t / 64, 1 / std::sqrt(float(d)), 0);
}
extern "C" void attention_unscaled(const float* q, const float* k, const float* v, float* y, int t,
                                   int d) {
  attend(q, k, v, y, t, d, t, 1, 0);
}
extern "C" void attention_of_bfloat(const float* q, const float* k, const float* v, float* y, int t,
                                    int d) {
  attend(q, k, v, y, t, d, t, 1 / std::sqrt(float(d)), 16);
}

// Histograms and quantizers.

extern "C" void histogram_serial(const int* x, int* y, int n, int bins) {
  std::fill(y, y + bins, 0);
  for (int i = 0; i < n; ++i) ++y[x[i]];
}
extern "C" void histogram_of_parts(const int* x, int* y, int n, int bins) {
  std::vector<int> parts(4 * bins);
  for (int i = 0; i < n; ++i) ++parts[i % 4 * bins + x[i]];
  for (int b = 0; b < bins; ++b)
    y[b] = parts[b] + parts[bins + b] + parts[2 * bins + b] + parts[3 * bins + b];
}
extern "C" void histogram_without_last_tile(const int* x, int* y, int n, int bins) {
  std::fill(y, y + bins, 0);
  for (int i = 0; i < n - 8; ++i) ++y[x[i]];
}
extern "C" void histogram_saturates(const int* x, int* y, int n, int bins) {
  std::fill(y, y + bins, 0);
  for (int i = 0; i < n; ++i) y[x[i]] = std::min(255, y[x[i]] + 1);
}

static void quantize(const float* x, int8_t* y, int rows, int cols, int seen, bool divide,
                     float least) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float most = 1e-8f;
    for (int c = 0; c < seen; ++c) most = std::max(most, std::fabs(x[c]));
    const float step = most / 127, factor = 127 / most;
    for (int c = 0; c < cols; ++c) {
      const float scaled = std::nearbyint(divide ? x[c] / step : x[c] * factor);
      y[c] = int8_t(std::fmin(127.0f, std::fmax(least, scaled)));
    }
  }
}
extern "C" void quantize_divide(const float* x, int8_t* y, int rows, int cols) {
  quantize(x, y, rows, cols, cols, true, -128);
}
extern "C" void quantize_multiply(const float* x, int8_t* y, int rows, int cols) {
  quantize(x, y, rows, cols, cols, false, -128);
}
extern "C" void quantize_by_half_row(const float* x, int8_t* y, int rows, int cols) {
  quantize(x, y, rows, cols, (cols + 1) / 2, true, -128);
}
extern "C" void quantize_unsigned(const float* x, int8_t* y, int rows, int cols) {
  quantize(x, y, rows, cols, cols, true, 0);
}
