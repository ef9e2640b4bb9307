// ---
// id: code-softmax-rows
// title: "Row softmax on the processor: code in four steps"
// kind: code
// tags: [softmax, reduction, host, simd, compute]
// architectures: [x86-64]
// languages: [cpp]
// aliases: [softmax code, exponential polynomial code, expf vectorized code]
// confidence: verified
// code_evidence: measured
// measured_on: "AMD EPYC, 2 cores"
// related: [kernel-softmax-rows]
// cures:
//   pattern-host-math-calls: v2
//   pattern-host-scalar-loop: v2
//   pattern-host-single-thread: v3
// sources:
//   - {id: ratchet-code, title: "written for this wiki and run through ratchet", publisher: "ratchet"}
// task:
//   dims: {rows: 512, cols: 1024}
//   tensors:
//     - {name: x, dtype: float32, shape: [rows, cols], role: in}
//     - {name: y, dtype: float32, shape: [rows, cols], role: out}
//   work: {bytes: "8 * rows * cols", flops: "5 * rows * cols", type: float32}
//   steps: 4
//   timed: 3
// measured:
//   - {step: v0, ms: 15, times_v0: 1, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v1, ms: 1.1, times_v0: 13.7, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v2, ms: 0.251, times_v0: 60, device: "AMD EPYC, 2 cores", date: 2026-11-23}
// ---

// y = exp(x - largest of the row) / sum of the row's exponentials.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#ifndef STEP
#define STEP 3
#endif

// region reference
extern "C" void reference(const float* x, float* y, int rows, int cols) {
  for (long r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int c = 0; c < cols; ++c) top = std::fmax(top, static_cast<double>(in[c]));
    for (int c = 0; c < cols; ++c) sum += std::exp(in[c] - top);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = static_cast<float>(std::exp(in[c] - top) / sum);
  }
}

namespace {
#if STEP == 0
// region v0: two exponentials of double an element
void row_of(const float* in, float* out, int cols) {
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int c = 0; c < cols; ++c) top = std::fmax(top, static_cast<double>(in[c]));
  for (int c = 0; c < cols; ++c) sum += std::exp(in[c] - top);
  for (int c = 0; c < cols; ++c) out[c] = static_cast<float>(std::exp(in[c] - top) / sum);
}
#else
constexpr int kLanes = 64;

#if STEP == 1
// region v1: one exponential of float an element, kept in the output row
float exponential(float x) { return std::exp(x); }
#else
// region v2: an exponential without calls and branches, for arguments up to 0. Two to the rounded
// x / ln 2 goes into the exponent bits, the rest into a polynomial of degree 5 (2e-7 relative)
float exponential(float x) {
  const float bounded = x > -87.f ? x : -87.f;  // also for -infinity
  const float magic = 12582912.f;               // 1.5 * 2^23: adding it rounds to a whole number
  const float shifted = bounded * 1.44269504f + magic;
  const float whole = shifted - magic;
  const float rest = (bounded - whole * 0.693359375f) + whole * 2.12194440e-4f;  // ln 2 in two parts
  float p = 1.9875691500e-4f;
  p = p * rest + 1.3981999507e-3f;
  p = p * rest + 8.3334519073e-3f;
  p = p * rest + 4.1665795894e-2f;
  p = p * rest + 1.6666665459e-1f;
  p = p * rest + 5.0000001201e-1f;
  p = p * rest * rest + rest + 1.f;
  std::int32_t bits;
  std::memcpy(&bits, &shifted, 4);
  bits <<= 23;  // the whole number stands in the lowest bits of `shifted`
  std::int32_t value;
  std::memcpy(&value, &p, 4);
  value += bits;
  std::memcpy(&p, &value, 4);
  const float result = x < -87.f ? 0.f : p;
  return x == x ? result : x;
}
#endif

void row_of(const float* __restrict__ in, float* __restrict__ out, int cols) {
  float part[kLanes];
  std::fill(part, part + kLanes, -std::numeric_limits<float>::infinity());
  int c = 0;
  for (; c + kLanes <= cols; c += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      part[lane] = in[c + lane] > part[lane] ? in[c + lane] : part[lane];
  for (; c < cols; ++c) part[0] = in[c] > part[0] ? in[c] : part[0];
  const float top = *std::max_element(part, part + kLanes);
  double sum = 0;
  for (int at = 0; at < cols; at += 4096) {
    const int stop = std::min(cols, at + 4096);
    float sums[kLanes] = {};
    for (c = at; c + kLanes <= stop; c += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) {
        const float e = exponential(in[c + lane] - top);
        out[c + lane] = e;
        sums[lane] += e;
      }
    for (; c < stop; ++c) sum += out[c] = exponential(in[c] - top);
    for (const float lane : sums) sum += lane;
  }
  const float scale = static_cast<float>(1 / sum);
  for (c = 0; c < cols; ++c) out[c] *= scale;
}
#endif
}  // namespace

// region v3: rows shared among the cores
extern "C" void solve(const float* x, float* y, int rows, int cols) {
#if STEP >= 3
#pragma omp parallel for if (static_cast<long>(rows) * cols > 16384)
#endif
  for (long r = 0; r < rows; ++r) row_of(x + r * cols, y + r * cols, cols);
}
