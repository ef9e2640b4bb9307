// ---
// id: code-stencil-3x3
// title: "3 x 3 convolution of an image on the processor: code in four steps"
// kind: code
// tags: [memory, compute, host, simd, tiling]
// architectures: [x86-64]
// languages: [cpp]
// aliases: [stencil code, 3x3 convolution code, image filter code]
// confidence: verified
// code_evidence: measured
// measured_on: "AMD EPYC, 2 cores"
// related: [kernel-stencil-3x3]
// cures:
//   pattern-host-branches: v1
//   pattern-host-scalar-loop: v1
//   pattern-host-memory-bandwidth: v2
//   pattern-host-single-thread: v3
// sources:
//   - {id: ratchet-code, title: "written for this wiki and run through ratchet", publisher: "ratchet"}
// task:
//   dims: {height: 1024, width: 1024}
//   tensors:
//     - {name: x, dtype: float32, shape: [height, width], role: in}
//     - {name: weight, dtype: float32, shape: ["9"], role: in}
//     - {name: y, dtype: float32, shape: [height, width], role: out}
//   work: {bytes: "8 * height * width", flops: "18 * height * width", type: float32}
//   steps: 4
//   timed: 3
// measured:
//   - {step: v0, ms: 7.48, times_v0: 1, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v1, ms: 0.538, times_v0: 13.9, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v2, ms: 0.425, times_v0: 17.6, device: "AMD EPYC, 2 cores", date: 2026-11-23}
// ---

// y = x convolved (correlated) with a 3 x 3 weight, zeros outside of the image.
#include <algorithm>
#ifndef STEP
#define STEP 3
#endif

// region reference
extern "C" void reference(const float* x, const float* weight, float* y, int height, int width) {
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) {
      double sum = 0;
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
          if (r + i >= 0 && r + i < height && c + j >= 0 && c + j < width)
            sum += static_cast<double>(weight[(i + 1) * 3 + j + 1]) *
                   x[static_cast<long>(r + i) * width + c + j];
      y[static_cast<long>(r) * width + c] = static_cast<float>(sum);
    }
}

#if STEP == 0
// region v0: four comparisons for every tap
extern "C" void solve(const float* x, const float* weight, float* y, int height, int width) {
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) {
      float sum = 0;
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j)
          if (r + i >= 0 && r + i < height && c + j >= 0 && c + j < width)
            sum += weight[(i + 1) * 3 + j + 1] * x[static_cast<long>(r + i) * width + c + j];
      y[static_cast<long>(r) * width + c] = sum;
    }
}
#else
#include <vector>

namespace {
// region v1: no comparison inside the row: the first and the last column are done apart
/// One output row from three input rows; a row outside of the image is a row of zeros.
void row_of(const float* __restrict__ above, const float* __restrict__ here,
            const float* __restrict__ below, const float* __restrict__ w, float* __restrict__ out,
            int width) {
  const auto edge = [&](int c) {
    float sum = w[1] * above[c] + w[4] * here[c] + w[7] * below[c];
    if (c > 0) sum += w[0] * above[c - 1] + w[3] * here[c - 1] + w[6] * below[c - 1];
    if (c + 1 < width) sum += w[2] * above[c + 1] + w[5] * here[c + 1] + w[8] * below[c + 1];
    return sum;
  };
  out[0] = edge(0);
  if (width > 1) out[width - 1] = edge(width - 1);
  for (int c = 1; c < width - 1; ++c)
    out[c] = w[0] * above[c - 1] + w[1] * above[c] + w[2] * above[c + 1] + w[3] * here[c - 1] +
             w[4] * here[c] + w[5] * here[c + 1] + w[6] * below[c - 1] + w[7] * below[c] +
             w[8] * below[c + 1];
}

#if STEP >= 2
// region v2: two output rows a pass, so that the two rows between them are loaded once for both
void rows_of(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ c,
             const float* __restrict__ d, const float* __restrict__ w, float* __restrict__ first,
             float* __restrict__ second, int width) {
  for (int i = 1; i < width - 1; ++i) {
    const float b0 = b[i - 1], b1 = b[i], b2 = b[i + 1], c0 = c[i - 1], c1 = c[i], c2 = c[i + 1];
    first[i] = w[0] * a[i - 1] + w[1] * a[i] + w[2] * a[i + 1] + w[3] * b0 + w[4] * b1 + w[5] * b2 +
               w[6] * c0 + w[7] * c1 + w[8] * c2;
    second[i] = w[0] * b0 + w[1] * b1 + w[2] * b2 + w[3] * c0 + w[4] * c1 + w[5] * c2 +
                w[6] * d[i - 1] + w[7] * d[i] + w[8] * d[i + 1];
  }
}
#endif
}  // namespace

// region v3: rows shared among the cores
extern "C" void solve(const float* x, const float* weight, float* y, int height, int width) {
  const std::vector<float> zeros(width, 0.f);
  float w[9];
  std::copy(weight, weight + 9, w);
  const auto row = [&](int r) {
    return r >= 0 && r < height ? x + static_cast<long>(r) * width : zeros.data();
  };
  constexpr int kRows = STEP >= 2 ? 2 : 1;
#if STEP >= 3
#pragma omp parallel for if (static_cast<long>(height) * width > 65536)
#endif
  for (int r = 0; r < height; r += kRows) {
    float* out = y + static_cast<long>(r) * width;
#if STEP >= 2
    if (r + 1 < height && width > 2) {
      rows_of(row(r - 1), row(r), row(r + 1), row(r + 2), w, out, out + width, width);
      for (int k = 0; k < 2; ++k)
        for (const int c : {0, width - 1}) {
          float sum = 0;
          for (int i = 0; i < 3; ++i)
            for (int j = std::max(0, 1 - c); j < std::min(3, width - c + 1); ++j)
              sum += w[i * 3 + j] * row(r + k + i - 1)[c + j - 1];
          out[k * width + c] = sum;
        }
      continue;
    }
#endif
    for (int k = 0; k < kRows && r + k < height; ++k)
      row_of(row(r + k - 1), row(r + k), row(r + k + 1), w, out + k * width, width);
  }
}
#endif
