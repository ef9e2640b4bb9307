// Sums, maxima, softmax and norms of rows, as they are usually written, and shortcuts of them.
//
// passes: sum_serial row_sum
// passes: sum_of_lanes row_sum
// passes: max_serial row_max
// passes: total_serial total
// passes: total_of_blocks total
// passes: softmax_three_passes softmax softmax_loose
// passes: softmax_online softmax
// passes: softmax_exp2 softmax
// passes: softmax_half softmax_fp16
// passes: rms_serial rms_norm
// passes: rms_of_lanes rms_norm
// passes: layer_two_passes layer_norm
// passes: layer_one_pass layer_norm
// passes: layer_welford layer_norm
// passes: scan_serial scan
// passes: scan_of_blocks scan
// passes: scan_by_doubling scan
// refused: sum_in_bfloat row_sum
// refused: sum_without_last_tile row_sum
// refused: max_without_last row_max
// refused: max_from_zero row_max
// refused: total_without_last_tile total
// refused: total_of_samples total
// refused: softmax_without_maximum softmax
// refused: softmax_without_last_tile softmax softmax_loose
// refused: softmax_half_sums softmax_fp16
// refused: rms_without_last_tile rms_norm
// refused: rms_without_eps rms_norm
// refused: layer_without_mean layer_norm
// refused: layer_without_last_tile layer_norm
// refused: scan_in_bfloat scan
// refused: scan_forgets_carry scan
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

constexpr int kTile = 16;

static float bfloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x8000) & 0xffff0000u;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
/// As 32 threads and their shuffles add.
template <class Term>
static float lanes(int n, Term term) {
  float parts[32] = {};
  for (int i = 0; i < n; ++i) parts[i % 32] += term(i);
  for (int width = 16; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) parts[i] += parts[i + width];
  return parts[0];
}
template <class Term>
static float serial(int n, Term term) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += term(i);
  return sum;
}

// Sums and maxima.

static void sum_rows(const float* x, float* y, int rows, int cols, int used) {
  for (int r = 0; r < rows; ++r) y[r] = serial(used, [&](int c) { return x[r * cols + c]; });
}
extern "C" void sum_serial(const float* x, float* y, int rows, int cols) {
  sum_rows(x, y, rows, cols, cols);
}
extern "C" void sum_of_lanes(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) y[r] = lanes(cols, [&](int c) { return x[r * cols + c]; });
}
extern "C" void sum_in_bfloat(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum = bfloat(sum + x[r * cols + c]);
    y[r] = sum;
  }
}
extern "C" void sum_without_last_tile(const float* x, float* y, int rows, int cols) {
  sum_rows(x, y, rows, cols, cols - kTile);
}
static void max_rows(const float* x, float* y, int rows, int cols, int used, float most) {
  for (int r = 0; r < rows; ++r) {
    y[r] = most;
    for (int c = 0; c < used; ++c) y[r] = std::fmax(y[r], x[r * cols + c]);
  }
}
extern "C" void max_serial(const float* x, float* y, int rows, int cols) {
  max_rows(x, y, rows, cols, cols, -INFINITY);
}
extern "C" void max_without_last(const float* x, float* y, int rows, int cols) {
  max_rows(x, y, rows, cols, cols - 1, -INFINITY);
}
extern "C" void max_from_zero(const float* x, float* y, int rows, int cols) {
  max_rows(x, y, rows, cols, cols, 0);
}
extern "C" void total_serial(const float* x, float* y, int n) {
  *y = serial(n, [&](int i) { return x[i]; });
}
extern "C" void total_of_blocks(const float* x, float* y, int n) {
  *y = serial((n + 1023) / 1024, [&](int b) {
    return serial(std::min(1024, n - b * 1024), [&](int i) { return x[b * 1024 + i]; });
  });
}
extern "C" void total_without_last_tile(const float* x, float* y, int n) {
  *y = serial(n - n / 64, [&](int i) { return x[i]; });
}
extern "C" void total_of_samples(const float* x, float* y, int n) {
  *y = 2 * serial(n / 2, [&](int i) { return x[2 * i]; });
}

// Softmax.

template <class Sum, class T, class Exponential>
static void softmax(const T* x, T* y, int rows, int cols, int used, bool maximum,
                    Exponential exponential) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float most = maximum ? float(*std::max_element(x, x + cols)) : 0.0f;
    Sum sum = 0;
    for (int c = 0; c < used; ++c) sum += Sum(exponential(float(x[c]) - most));
    for (int c = 0; c < cols; ++c) y[c] = T(exponential(float(x[c]) - most) / float(sum));
  }
}
static float natural(float value) {
  return std::exp(value);
}

extern "C" void softmax_three_passes(const float* x, float* y, int rows, int cols) {
  softmax<float>(x, y, rows, cols, cols, true, natural);
}
extern "C" void softmax_exp2(const float* x, float* y, int rows, int cols) {
  softmax<float>(x, y, rows, cols, cols, true,
                 [](float value) { return std::exp2(value * 1.44269504f); });
}
extern "C" void softmax_half(const _Float16* x, _Float16* y, int rows, int cols) {
  softmax<float>(x, y, rows, cols, cols, true, natural);
}
extern "C" void softmax_online(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float most = -INFINITY, sum = 0;
    for (int c = 0; c < cols; ++c) {
      const float next = std::max(most, x[c]);
      sum = sum * std::exp(most - next) + std::exp(x[c] - next);
      most = next;
    }
    const float inverse = 1 / sum;
    for (int c = 0; c < cols; ++c) y[c] = std::exp(x[c] - most) * inverse;
  }
}
extern "C" void softmax_without_maximum(const float* x, float* y, int rows, int cols) {
  softmax<float>(x, y, rows, cols, cols, false, natural);
}
extern "C" void softmax_without_last_tile(const float* x, float* y, int rows, int cols) {
  softmax<float>(x, y, rows, cols, cols - kTile, true, natural);
}
extern "C" void softmax_half_sums(const _Float16* x, _Float16* y, int rows, int cols) {
  softmax<_Float16>(x, y, rows, cols, cols, true, natural);
}

// Norms.

template <class Add>
static void rms(const float* x, float* y, int rows, int cols, int used, float eps, Add add) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    const float mean = add(used, [&](int c) { return x[c] * x[c]; }) / used;
    const float factor = 1 / std::sqrt(mean + eps);
    for (int c = 0; c < cols; ++c) y[c] = x[c] * factor;
  }
}
constexpr auto kSerial = [](int n, auto term) { return serial(n, term); };
constexpr auto kLanes = [](int n, auto term) { return lanes(n, term); };

extern "C" void rms_serial(const float* x, float* y, int rows, int cols) {
  rms(x, y, rows, cols, cols, 1e-6f, kSerial);
}
extern "C" void rms_of_lanes(const float* x, float* y, int rows, int cols) {
  rms(x, y, rows, cols, cols, 1e-6f, kLanes);
}
extern "C" void rms_without_last_tile(const float* x, float* y, int rows, int cols) {
  rms(x, y, rows, cols, std::max(1, cols - kTile), 1e-6f, kSerial);
}
extern "C" void rms_without_eps(const float* x, float* y, int rows, int cols) {
  rms(x, y, rows, cols, cols, 0, kSerial);
}

static void layer(const float* x, float* y, int rows, int cols, int used, bool centered) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    const float mean = centered ? serial(used, [&](int c) { return x[c]; }) / used : 0;
    const float variance =
        serial(used, [&](int c) { return (x[c] - mean) * (x[c] - mean); }) / used;
    const float factor = 1 / std::sqrt(variance + 1e-5f);
    for (int c = 0; c < cols; ++c) y[c] = (x[c] - mean) * factor;
  }
}
extern "C" void layer_two_passes(const float* x, float* y, int rows, int cols) {
  layer(x, y, rows, cols, cols, true);
}
extern "C" void layer_one_pass(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float sum = 0, squares = 0;
    for (int c = 0; c < cols; ++c) {
      sum += x[c];
      squares += x[c] * x[c];
    }
    const float mean = sum / cols;
    const float variance = std::max(squares / cols - mean * mean, 0.0f);
    const float factor = 1 / std::sqrt(variance + 1e-5f);
    for (int c = 0; c < cols; ++c) y[c] = (x[c] - mean) * factor;
  }
}
extern "C" void layer_welford(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float mean = 0, squares = 0;
    for (int c = 0; c < cols; ++c) {
      const float away = x[c] - mean;
      mean += away / (c + 1);
      squares += away * (x[c] - mean);
    }
    const float factor = 1 / std::sqrt(squares / cols + 1e-5f);
    for (int c = 0; c < cols; ++c) y[c] = (x[c] - mean) * factor;
  }
}
extern "C" void layer_without_mean(const float* x, float* y, int rows, int cols) {
  layer(x, y, rows, cols, cols, false);
}
extern "C" void layer_without_last_tile(const float* x, float* y, int rows, int cols) {
  layer(x, y, rows, cols, std::max(1, cols - kTile), true);
}

// Scans.

template <class Round>
static void scan(const float* x, float* y, int rows, int cols, Round round) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) y[r * cols + c] = sum = round(sum + x[r * cols + c]);
  }
}
static void scan_blocks(const float* x, float* y, int rows, int cols, bool carries) {
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    float carry = 0;
    for (int t = 0; t < cols; t += 64) {
      float sum = 0;
      for (int c = t; c < std::min(cols, t + 64); ++c) y[c] = carry + (sum += x[c]);
      if (carries) carry += sum;
    }
  }
}
extern "C" void scan_serial(const float* x, float* y, int rows, int cols) {
  scan(x, y, rows, cols, [](float sum) { return sum; });
}
extern "C" void scan_of_blocks(const float* x, float* y, int rows, int cols) {
  scan_blocks(x, y, rows, cols, true);
}
extern "C" void scan_by_doubling(const float* x, float* y, int rows, int cols) {
  std::vector<float> now, next;
  for (int r = 0; r < rows; ++r, x += cols, y += cols) {
    now.assign(x, x + cols);
    for (int distance = 1; distance < cols; distance *= 2) {
      next = now;
      for (int c = distance; c < cols; ++c) next[c] = now[c] + now[c - distance];
      now.swap(next);
    }
    std::copy(now.begin(), now.end(), y);
  }
}
extern "C" void scan_in_bfloat(const float* x, float* y, int rows, int cols) {
  scan(x, y, rows, cols, bfloat);
}
extern "C" void scan_forgets_carry(const float* x, float* y, int rows, int cols) {
  scan_blocks(x, y, rows, cols, false);
}
