// ---
// id: code-sum-reduction
// title: "Sum of a long vector on the processor: code in four steps"
// kind: code
// tags: [reduction, host, simd, latency, numerics]
// architectures: [x86-64]
// languages: [cpp]
// aliases: [reduction code, sum code, horizontal sum code]
// confidence: verified
// code_evidence: measured
// measured_on: "AMD EPYC, 2 cores"
// related: [kernel-sum-reduction]
// cures:
//   pattern-host-dependency-chain: v2
//   pattern-host-atomics: v3
//   pattern-host-single-thread: v3
// sources:
//   - {id: ratchet-code, title: "written for this wiki and run through ratchet", publisher: "ratchet"}
// task:
//   dims: {n: 1048576}
//   tensors:
//     - {name: x, dtype: float32, shape: [n], role: in}
//     - {name: y, dtype: float32, shape: ["2"], role: out}
//   work: {bytes: "4 * n", flops: "3 * n", type: float32}
//   steps: 4
//   timed: 3
// measured:
//   - {step: v0, ms: 0.657, times_v0: 1, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v1, ms: 0.295, times_v0: 2.23, device: "AMD EPYC, 2 cores", date: 2026-11-23}
//   - {step: v2, ms: 0.172, times_v0: 3.81, device: "AMD EPYC, 2 cores", date: 2026-11-23}
// ---

// y[0] = sum of x, y[1] = sum of the squares of x.
#include <algorithm>
#ifndef STEP
#define STEP 3
#endif

// region reference
extern "C" void reference(const float* x, float* y, int n) {
  long double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    squares += static_cast<long double>(x[i]) * x[i];
  }
  y[0] = static_cast<float>(sum);
  y[1] = static_cast<float>(squares);
}

#if STEP == 0
// region v0: one chain of additions each, in double for the digits
extern "C" void solve(const float* x, float* y, int n) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    squares += static_cast<double>(x[i]) * x[i];
  }
  y[0] = static_cast<float>(sum);
  y[1] = static_cast<float>(squares);
}
#else
namespace {
struct Sums {
  double sum = 0, squares = 0;
};

#if STEP == 1
// region v1: sixteen lanes of double side by side, which the compiler may keep in vectors
constexpr int kLanes = 16;
using Part = double;
#else
// region v2: 64 lanes of float within a block, so four vector chains; a block's sums are added in double
constexpr int kLanes = 64;
using Part = float;
#endif
constexpr int kBlock = 4096;

Sums sums_of(const float* x, long begin, long end) {
  Sums all;
  for (long at = begin; at < end; at += kBlock) {
    const long stop = std::min(end, at + kBlock);
    Part sum[kLanes] = {}, squares[kLanes] = {};
    long i = at;
    for (; i + kLanes <= stop; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) {
        const Part v = x[i + lane];
        sum[lane] += v;
        squares[lane] += v * v;
      }
    for (; i < stop; ++i) {
      all.sum += x[i];
      all.squares += static_cast<double>(x[i]) * x[i];
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      all.sum += sum[lane];
      all.squares += squares[lane];
    }
  }
  return all;
}
}  // namespace

// region v3: one share of whole blocks per core
extern "C" void solve(const float* x, float* y, int n) {
  double sum = 0, squares = 0;
#if STEP >= 3
  const long blocks = (static_cast<long>(n) + kBlock - 1) / kBlock;
#pragma omp parallel for reduction(+ : sum, squares) schedule(static) if (n > 65536)
  for (long block = 0; block < blocks; ++block) {
    const Sums part = sums_of(x, block * kBlock, std::min<long>(n, (block + 1) * kBlock));
    sum += part.sum;
    squares += part.squares;
  }
#else
  const Sums all = sums_of(x, 0, n);
  sum = all.sum;
  squares = all.squares;
#endif
  y[0] = static_cast<float>(sum);
  y[1] = static_cast<float>(squares);
}
#endif
