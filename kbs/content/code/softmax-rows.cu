// ---
// id: code-softmax-rows-gpu
// title: "Softmax and RMS norm of rows by row length: complete code"
// kind: code
// tags: [softmax, normalization, reduction, memory, warp]
// architectures: [sm80, sm86, sm89, sm90, sm100, sm120]
// languages: [cuda-cpp]
// aliases: [softmax CUDA code, RMS norm code, layer norm CUDA code, row reduction code]
// confidence: verified
// code_evidence: measured
// measured_on: "NVIDIA H200"
// compiled: [sm_80, sm_90a, sm_120a]
// related: [kernel-softmax-rows-gpu]
// cures:
//   pattern-barrier-stalls: reductions
//   pattern-dram-bound-latency: held
//   pattern-uncoalesced-loads: held
//   method-reduction: reductions
//   method-warp-shuffle: reductions
//   method-warp-shuffle-sync: reductions
//   method-online-recomputation: long
// sources:
//   - {id: ratchet-code, title: "written for this wiki, checked and timed through ratchet on an NVIDIA H200; its cover of rows is tested on the host", publisher: "ratchet"}
// task:
//   dims: {rows: 8192, cols: 8192}
//   cases: [{rows: 8192, cols: 8192}, {rows: 65536, cols: 1000}, {rows: 512, cols: 128256}]
//   tensors:
//     - {name: x, dtype: float32, shape: [rows, cols], role: in}
//     - {name: y, dtype: float32, shape: [rows, cols], role: out}
//   work: {bytes: "8 * rows * cols", flops: "5 * rows * cols", type: float32}
//   steps: 1
//   library: "torch.softmax"
// measured:
//   - {step: v0, ms: 0.126, times_v0: 1, of_library: 2.19, registers: 54, spill_bytes: 0, device: "NVIDIA H200", date: 2026-11-25}
// ---

// softmax: y = exp(x - largest) / sum; rms_norm: y = x / sqrt(mean of squares + eps) * weight. fp32, row by row.
#include <cuda_runtime.h>

#include <cmath>

// region index: which column a thread holds; plain C++, tested on the host
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
constexpr int kHeld = 8;  // groups of four columns a thread holds in registers
/// First column of group j of thread t: threads lie side by side, 16 bytes each.
__host__ __device__ constexpr int column_of(int threads, int t, int j) { return (j * threads + t) * 4; }
/// Threads that hold a row in registers: 32 up to 1,024 columns, then 256, then 1,024; 0 above 32,768.
__host__ __device__ constexpr int threads_for(int cols) {
  return cols <= 32 * 4 * kHeld ? 32 : cols <= 256 * 4 * kHeld ? 256 : cols <= 1024 * 4 * kHeld ? 1024 : 0;
}

// region reductions
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };
/// Reduces over the threads of a row: shuffles, and one exchange through shared memory for more than a warp.
template <int kThreads, class Op>
__device__ inline float over_row(float v, Op op, float* scratch) {
  #pragma unroll
  for (int step = 16; step > 0; step /= 2) v = op(v, __shfl_xor_sync(~0u, v, step));
  if constexpr (kThreads > 32) {
    __syncthreads();  // earlier readers of scratch are done
    if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = v;
    __syncthreads();
    v = scratch[threadIdx.x & (kThreads / 32 - 1)];
    #pragma unroll
    for (int step = kThreads / 64; step > 0; step /= 2) v = op(v, __shfl_xor_sync(~0u, v, step));
  }
  return v;
}
__device__ inline void load(float (&v)[4], const float* row, int c, int cols, float outside) {
  if (cols % 4 == 0 && c < cols) {  // rows begin on 16 bytes
    const float4 four = *reinterpret_cast<const float4*>(row + c);
    v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
  } else {
    #pragma unroll
    for (int i = 0; i < 4; ++i) v[i] = c + i < cols ? row[c + i] : outside;
  }
}
__device__ inline void store(float* row, int c, int cols, const float (&v)[4]) {
  if (cols % 4 == 0 && c < cols) {
    *reinterpret_cast<float4*>(row + c) = make_float4(v[0], v[1], v[2], v[3]);
  } else {
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      if (c + i < cols) row[c + i] = v[i];
  }
}

// region held: the row stays in registers, read once and written once; kRows rows a block when a warp holds one
template <int kThreads, int kRows, bool kSoftmax>
__global__ void __launch_bounds__(kThreads * kRows) held(const float* __restrict__ x, const float* __restrict__ weight,
                                                         float* __restrict__ y, int rows, int cols, float eps) {
  __shared__ float scratch[kThreads / 32];
  const int t = kRows > 1 ? threadIdx.x % 32 : threadIdx.x;
  const int r = blockIdx.x * kRows + (kRows > 1 ? threadIdx.x / 32 : 0);
  if (r >= rows) return;  // whole warps; with one row a block never
  const float* in = x + size_t(r) * cols;
  float v[kHeld][4], part = kSoftmax ? -INFINITY : 0.f;
  #pragma unroll
  for (int j = 0; j < kHeld; ++j) load(v[j], in, column_of(kThreads, t, j), cols, kSoftmax ? -INFINITY : 0.f);
  #pragma unroll
  for (int j = 0; j < kHeld; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) part = kSoftmax ? fmaxf(part, v[j][i]) : fmaf(v[j][i], v[j][i], part);
  float scale;
  if constexpr (kSoftmax) {
    const float top = over_row<kThreads>(part, Max(), scratch);
    float sum = 0.f;
    #pragma unroll
    for (int j = 0; j < kHeld; ++j)
      #pragma unroll
      for (int i = 0; i < 4; ++i) sum += v[j][i] = __expf(v[j][i] - top);  // columns outside become 0
    scale = 1.f / over_row<kThreads>(sum, Sum(), scratch);
  } else {
    scale = rsqrtf(over_row<kThreads>(part, Sum(), scratch) / cols + eps);
  }
  #pragma unroll
  for (int j = 0; j < kHeld; ++j) {
    const int c = column_of(kThreads, t, j);
    float w[4] = {1.f, 1.f, 1.f, 1.f};
    if constexpr (!kSoftmax) load(w, weight, c, cols, 0.f);
    #pragma unroll
    for (int i = 0; i < 4; ++i) v[j][i] *= scale * w[i];
    store(y + size_t(r) * cols, c, cols, v[j]);
  }
}

// region long: rows that no block can hold: two passes, the first with a running maximum and sum
__global__ void __launch_bounds__(1024) softmax_long(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float scratch[32];
  const float* in = x + size_t(blockIdx.x) * cols;
  float top = -INFINITY, sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += 1024) {
    const float v = in[c], larger = fmaxf(top, v);
    if (larger == -INFINITY) continue;  // (-inf) - (-inf) is no number
    sum = sum * __expf(top - larger) + __expf(v - larger);
    top = larger;
  }
  const float all = over_row<1024>(top, Max(), scratch);
  const float total = over_row<1024>(top == -INFINITY ? 0.f : sum * __expf(top - all), Sum(), scratch);
  for (int c = threadIdx.x; c < cols; c += 1024) y[size_t(blockIdx.x) * cols + c] = __expf(in[c] - all) / total;
}

// region launch
template <bool kSoftmax>
void launch(const float* x, const float* weight, float* y, int rows, int cols, float eps, cudaStream_t s) {
  switch (threads_for(cols)) {
    case 32: held<32, 4, kSoftmax><<<(rows + 3) / 4, 128, 0, s>>>(x, weight, y, rows, cols, eps); break;
    case 256: held<256, 1, kSoftmax><<<rows, 256, 0, s>>>(x, weight, y, rows, cols, eps); break;
    case 1024: held<1024, 1, kSoftmax><<<rows, 1024, 0, s>>>(x, weight, y, rows, cols, eps); break;
    default:
      if constexpr (kSoftmax) softmax_long<<<rows, 1024, 0, s>>>(x, y, cols);
  }
}
extern "C" void solve(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
  launch<true>(x, nullptr, y, rows, cols, 0.f, stream);
}
extern "C" cudaError_t rms_norm(const float* x, const float* weight, float* y, int rows, int cols, float eps, cudaStream_t stream) {
  if (threads_for(cols) == 0) return cudaErrorInvalidValue;  // longer rows: as softmax_long, one pass for the squares
  launch<false>(x, weight, y, rows, cols, eps, stream);
  return cudaGetLastError();
}
