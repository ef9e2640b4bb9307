// ---
// id: code-layer-norm-rows
// title: "Layer norm of rows on the processor: code in four steps"
// kind: code
// tags: [normalization, reduction, host, simd, memory]
// architectures: [x86-64]
// languages: [cpp]
// aliases: [layer norm code, layernorm code, RMS norm code]
// confidence: verified
// code_evidence: measured
// measured_on: "AMD EPYC, 2 cores"
// related: [kernel-layer-norm-rows]
// cures:
//   pattern-host-dependency-chain: v2
//   pattern-host-single-thread: v3
// sources:
//   - {id: ratchet-code, title: "written for this wiki and run through ratchet", publisher: "ratchet"}
// task:
//   dims: {rows: 512, cols: 1024}
//   tensors:
//     - {name: x, dtype: float32, shape: [rows, cols], role: in}
//     - {name: gamma, dtype: float32, shape: [cols], role: in}
//     - {name: beta, dtype: float32, shape: [cols], role: in}
//     - {name: y, dtype: float32, shape: [rows, cols], role: out}
//   work: {bytes: "8 * rows * cols + 8 * cols", flops: "8 * rows * cols", type: float32}
//   steps: 4
//   timed: 3
// measured:
//   - {step: v0, ms: 0.72, times_v0: 1, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v1, ms: 0.256, times_v0: 2.81, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v2, ms: 0.206, times_v0: 3.49, device: "AMD EPYC, 2 cores", date: 2026-11-23}
// ---

// y = (x - mean) / sqrt(variance + 1e-5) * gamma + beta for each row; the variance divides by cols.
#include <algorithm>
#include <cmath>
#ifndef STEP
#define STEP 3
#endif

// region reference
extern "C" void reference(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  for (long r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    long double sum = 0, squares = 0;
    for (int c = 0; c < cols; ++c) sum += in[c];
    const long double mean = sum / cols;
    for (int c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const long double scale = 1 / std::sqrt(squares / cols + 1e-5L);
    for (int c = 0; c < cols; ++c)
      y[r * cols + c] = static_cast<float>((in[c] - mean) * scale * gamma[c] + beta[c]);
  }
}

namespace {
#if STEP == 0
// region v0: three passes, one chain of double additions each
void row_of(const float* in, const float* gamma, const float* beta, float* out, int cols) {
  double sum = 0, squares = 0;
  for (int c = 0; c < cols; ++c) sum += in[c];
  const double mean = sum / cols;
  for (int c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
  const double scale = 1 / std::sqrt(squares / cols + 1e-5);
  for (int c = 0; c < cols; ++c) out[c] = static_cast<float>((in[c] - mean) * scale * gamma[c] + beta[c]);
}
#else
#if STEP == 1
// region v1: sixteen lanes of double side by side
constexpr int kLanes = 16;
using Part = double;
#else
// region v2: 64 lanes of float, added up in double every 4,096 columns. The row is shifted by its first
// value, so that a common offset does not eat the digits
constexpr int kLanes = 64;
using Part = float;
#endif

/// The sum of f(column) over all columns.
template <class F>
double sum_of(int cols, F f) {
  double total = 0;
  for (int at = 0; at < cols; at += 4096) {
    const int stop = std::min(cols, at + 4096);
    Part part[kLanes] = {};
    int c = at;
    for (; c + kLanes <= stop; c += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) part[lane] += f(c + lane);
    for (; c < stop; ++c) total += f(c);
    for (int lane = 0; lane < kLanes; ++lane) total += part[lane];
  }
  return total;
}

void row_of(const float* __restrict__ in, const float* __restrict__ gamma,
            const float* __restrict__ beta, float* __restrict__ out, int cols) {
  const Part first = in[0];
  const double shifted = sum_of(cols, [&](int c) { return static_cast<Part>(in[c]) - first; }) / cols;
  // The mean as a float pair: what is left of it after the first value.
  const Part rest = static_cast<Part>(shifted);
  const double squares = sum_of(cols, [&](int c) {
    const Part d = (static_cast<Part>(in[c]) - first) - rest;
    return d * d;
  });
  const Part scale = static_cast<Part>(1 / std::sqrt(squares / cols + 1e-5));
  for (int c = 0; c < cols; ++c)
    out[c] = static_cast<float>(((static_cast<Part>(in[c]) - first) - rest) * scale * gamma[c] + beta[c]);
}
#endif
}  // namespace

// region v3: rows shared among the cores
extern "C" void solve(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
#if STEP >= 3
#pragma omp parallel for if (static_cast<long>(rows) * cols > 65536)
#endif
  for (long r = 0; r < rows; ++r) row_of(x + r * cols, gamma, beta, y + r * cols, cols);
}
