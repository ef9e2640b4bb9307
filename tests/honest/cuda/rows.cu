// Sums, maxima, softmax and norms of rows, as they are usually written, and shortcuts of them.
//
// passes: sum_by_thread row_sum
// passes: sum_by_warp row_sum
// passes: sum_by_block row_sum
// passes: sum_by_atomics row_sum
// passes: max_by_warp row_max
// passes: total_by_atomics total
// passes: total_in_two_steps total
// passes: softmax_three_passes softmax softmax_loose
// passes: softmax_online softmax
// passes: softmax_exp2 softmax
// passes: softmax_fast softmax_loose
// passes: softmax_half softmax_fp16
// passes: rms_by_block rms_norm
// passes: rms_by_warp rms_norm
// passes: rms_bfloat rms_norm_bf16
// passes: layer_two_passes layer_norm
// passes: layer_one_pass layer_norm
// passes: layer_welford layer_norm
// refused: sum_in_bfloat row_sum
// refused: sum_of_half_precision row_sum
// refused: sum_without_last_tile row_sum
// refused: max_without_last row_max
// refused: max_of_absolutes row_max
// refused: total_without_last_tile total
// refused: total_of_samples total
// refused: softmax_without_maximum softmax
// refused: softmax_without_last_tile softmax softmax_loose
// refused: softmax_of_bfloat softmax
// refused: rms_without_last_tile rms_norm
// refused: rms_of_samples rms_norm_bf16
// refused: layer_without_mean layer_norm
// refused: layer_of_bfloat layer_norm
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kThreads = 256;
constexpr int kTile = 16;

__device__ float add(float x, float y) {
  return x + y;
}
__device__ float larger(float x, float y) {
  return fmaxf(x, y);
}

template <class Join>
__device__ float over_warp(float value, Join join) {
  for (int mask = 16; mask > 0; mask /= 2) value = join(value, __shfl_xor_sync(~0u, value, mask));
  return value;
}

// Every thread of a block of kThreads gets the result.
template <class Join>
__device__ float over_block(float value, Join join) {
  __shared__ float parts[kThreads];
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width)
      parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + width]);
    __syncthreads();
  }
  value = parts[0];
  __syncthreads();
  return value;
}

__device__ long long row_at(int row, int cols) {
  return static_cast<long long>(row) * cols;
}

// Sums.

__global__ void sum_rows_by_thread(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += x[row_at(r, cols) + c];
  y[r] = sum;
}
__global__ void sum_rows_by_warp(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum += x[row_at(r, cols) + c];
  sum = over_warp(sum, add);
  if (lane == 0) y[r] = sum;
}
// `read` rounds what it reads; the last `left_out` columns are not read.
template <class Read>
__global__ void sum_rows_by_block(const float* x, float* y, int cols, int left_out, Read read) {
  float sum = 0;
  for (int c = threadIdx.x; c < cols - left_out; c += kThreads)
    sum += read(x[row_at(blockIdx.x, cols) + c]);
  sum = over_block(sum, add);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
__global__ void clear(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0;
}
__global__ void sum_rows_by_atomics(const float* x, float* y, int cols) {
  const int c = blockIdx.x * kThreads + threadIdx.x;
  const float sum = over_warp(c < cols ? x[row_at(blockIdx.y, cols) + c] : 0.0f, add);
  if (threadIdx.x % 32 == 0) atomicAdd(y + blockIdx.y, sum);
}
__global__ void sum_rows_in_bfloat(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  __nv_bfloat16 sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum = __float2bfloat16(float(sum) + x[row_at(r, cols) + c]);
  y[r] = sum;
}

struct Same {
  __device__ float operator()(float value) const { return value; }
};
struct Half {
  __device__ float operator()(float value) const { return __half2float(__float2half(value)); }
};
struct Bfloat {
  __device__ float operator()(float value) const {
    return __bfloat162float(__float2bfloat16(value));
  }
};

extern "C" void sum_by_thread(const float* x, float* y, int rows, int cols) {
  sum_rows_by_thread<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
extern "C" void sum_by_warp(const float* x, float* y, int rows, int cols) {
  sum_rows_by_warp<<<(rows + 7) / 8, 256>>>(x, y, rows, cols);
}
extern "C" void sum_by_block(const float* x, float* y, int rows, int cols) {
  sum_rows_by_block<<<rows, kThreads>>>(x, y, cols, 0, Same());
}
extern "C" void sum_by_atomics(const float* x, float* y, int rows, int cols) {
  clear<<<(rows + 255) / 256, 256>>>(y, rows);
  sum_rows_by_atomics<<<dim3((cols + kThreads - 1) / kThreads, rows), kThreads>>>(x, y, cols);
}
extern "C" void sum_in_bfloat(const float* x, float* y, int rows, int cols) {
  sum_rows_in_bfloat<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
extern "C" void sum_of_half_precision(const float* x, float* y, int rows, int cols) {
  sum_rows_by_block<<<rows, kThreads>>>(x, y, cols, 0, Half());
}
extern "C" void sum_without_last_tile(const float* x, float* y, int rows, int cols) {
  sum_rows_by_block<<<rows, kThreads>>>(x, y, cols, kTile, Same());
}

// Maxima.

template <bool absolutes>
__global__ void max_rows(const float* x, float* y, int rows, int cols, int left_out) {
  const int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float most = -INFINITY;
  for (int c = lane; c < cols - left_out; c += 32) {
    const float value = x[row_at(r, cols) + c];
    most = fmaxf(most, absolutes ? fabsf(value) : value);
  }
  most = over_warp(most, larger);
  if (lane == 0) y[r] = most;
}
extern "C" void max_by_warp(const float* x, float* y, int rows, int cols) {
  max_rows<false><<<(rows + 7) / 8, 256>>>(x, y, rows, cols, 0);
}
extern "C" void max_without_last(const float* x, float* y, int rows, int cols) {
  max_rows<false><<<(rows + 7) / 8, 256>>>(x, y, rows, cols, 1);
}
extern "C" void max_of_absolutes(const float* x, float* y, int rows, int cols) {
  max_rows<true><<<(rows + 7) / 8, 256>>>(x, y, rows, cols, 0);
}

// The sum of everything.

__global__ void add_all(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += x[i];
  sum = over_block(sum, add);
  if (threadIdx.x == 0) atomicAdd(y, sum);
}
__device__ float partial_sums[1024];
__global__ void add_parts(const float* x, int n) {
  float sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += x[i];
  sum = over_block(sum, add);
  if (threadIdx.x == 0) partial_sums[blockIdx.x] = sum;
}
__global__ void join_parts(float* y, int parts) {
  float sum = 0;
  for (int i = threadIdx.x; i < parts; i += kThreads) sum += partial_sums[i];
  sum = over_block(sum, add);
  if (threadIdx.x == 0) *y = sum;
}
__global__ void add_samples(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x * 2; i < n; i += kThreads * 2) sum += x[i];
  sum = over_block(sum, add);
  if (threadIdx.x == 0) *y = 2 * sum;
}
extern "C" void total_by_atomics(const float* x, float* y, int n) {
  clear<<<1, 1>>>(y, 1);
  add_all<<<264, kThreads>>>(x, y, n);
}
extern "C" void total_in_two_steps(const float* x, float* y, int n) {
  add_parts<<<528, kThreads>>>(x, n);
  join_parts<<<1, kThreads>>>(y, 528);
}
extern "C" void total_without_last_tile(const float* x, float* y, int n) {
  clear<<<1, 1>>>(y, 1);
  add_all<<<264, kThreads>>>(x, y, n - n / 64);
}
extern "C" void total_of_samples(const float* x, float* y, int n) {
  add_samples<<<1, kThreads>>>(x, y, n);
}

// Softmax.

struct Exp {
  __device__ float operator()(float value) const { return expf(value); }
};
struct Exp2 {
  __device__ float operator()(float value) const { return exp2f(value * 1.44269504f); }
};
struct FastExp {
  __device__ float operator()(float value) const { return __expf(value); }
};
struct BfloatExp {
  __device__ float operator()(float value) const {
    return __bfloat162float(__float2bfloat16(expf(value)));
  }
};

template <class T, class Exponential>
__global__ void softmax_rows(const T* x, T* y, int cols, int left_out, bool maximum,
                             Exponential exponential) {
  x += row_at(blockIdx.x, cols);
  y += row_at(blockIdx.x, cols);
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) most = fmaxf(most, float(x[c]));
  most = maximum ? over_block(most, larger) : 0;
  for (int c = threadIdx.x; c < cols - left_out; c += kThreads)
    sum += exponential(float(x[c]) - most);
  sum = over_block(sum, add);
  for (int c = threadIdx.x; c < cols; c += kThreads)
    y[c] = T(exponential(float(x[c]) - most) / sum);
}
__global__ void softmax_rows_online(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += row_at(r, cols);
  y += row_at(r, cols);
  float most = -INFINITY, sum = 0;
  for (int c = lane; c < cols; c += 32) {
    const float next = fmaxf(most, x[c]);
    sum = sum * expf(most - next) + expf(x[c] - next);
    most = next;
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    const float other = __shfl_xor_sync(~0u, most, mask);
    const float others_sum = __shfl_xor_sync(~0u, sum, mask);
    const float next = fmaxf(most, other);
    if (next > -INFINITY) sum = sum * expf(most - next) + others_sum * expf(other - next);
    most = next;
  }
  const float inverse = 1 / sum;
  for (int c = lane; c < cols; c += 32) y[c] = expf(x[c] - most) * inverse;
}
extern "C" void softmax_three_passes(const float* x, float* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols, 0, true, Exp());
}
extern "C" void softmax_online(const float* x, float* y, int rows, int cols) {
  softmax_rows_online<<<(rows + 7) / 8, 256>>>(x, y, rows, cols);
}
extern "C" void softmax_exp2(const float* x, float* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols, 0, true, Exp2());
}
extern "C" void softmax_fast(const float* x, float* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols, 0, true, FastExp());
}
extern "C" void softmax_half(const half* x, half* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols, 0, true, Exp());
}
extern "C" void softmax_without_maximum(const float* x, float* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols, 0, false, Exp());
}
extern "C" void softmax_without_last_tile(const float* x, float* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols, kTile, true, Exp());
}
extern "C" void softmax_of_bfloat(const float* x, float* y, int rows, int cols) {
  softmax_rows<<<rows, kThreads>>>(x, y, cols, 0, true, BfloatExp());
}

// Norms.

// The last `left_out` columns are not counted, and of the others only every `step`-th.
template <class T>
__global__ void rms_rows(const T* x, T* y, int cols, int left_out, int step) {
  x += row_at(blockIdx.x, cols);
  y += row_at(blockIdx.x, cols);
  float sum = 0;
  for (int c = threadIdx.x * step; c < cols - left_out; c += kThreads * step)
    sum += float(x[c]) * float(x[c]);
  const float factor = rsqrtf(over_block(sum, add) * step / (cols - left_out) + 1e-6f);
  for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = T(float(x[c]) * factor);
}
__global__ void rms_rows_by_warp(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += row_at(r, cols);
  y += row_at(r, cols);
  float sum = 0;
  for (int c = lane; c < cols; c += 32) sum = fmaf(x[c], x[c], sum);
  const float root = sqrtf(over_warp(sum, add) / cols + 1e-6f);
  for (int c = lane; c < cols; c += 32) y[c] = x[c] / root;
}
extern "C" void rms_by_block(const float* x, float* y, int rows, int cols) {
  rms_rows<<<rows, kThreads>>>(x, y, cols, 0, 1);
}
extern "C" void rms_by_warp(const float* x, float* y, int rows, int cols) {
  rms_rows_by_warp<<<(rows + 7) / 8, 256>>>(x, y, rows, cols);
}
extern "C" void rms_bfloat(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols) {
  rms_rows<<<rows, kThreads>>>(x, y, cols, 0, 1);
}
extern "C" void rms_without_last_tile(const float* x, float* y, int rows, int cols) {
  rms_rows<<<rows, kThreads>>>(x, y, cols, kTile, 1);
}
extern "C" void rms_of_samples(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols) {
  rms_rows<<<rows, kThreads>>>(x, y, cols, 0, 4);
}

template <class Read>
__global__ void layer_rows(const float* x, float* y, int cols, bool centered, Read read) {
  x += row_at(blockIdx.x, cols);
  y += row_at(blockIdx.x, cols);
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += read(x[c]);
  const float mean = centered ? over_block(sum, add) / cols : 0;
  for (int c = threadIdx.x; c < cols; c += kThreads)
    squares += (read(x[c]) - mean) * (read(x[c]) - mean);
  const float factor = rsqrtf(over_block(squares, add) / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = read((read(x[c]) - mean) * factor);
}
__global__ void layer_rows_one_pass(const float* x, float* y, int cols) {
  x += row_at(blockIdx.x, cols);
  y += row_at(blockIdx.x, cols);
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    sum += x[c];
    squares += x[c] * x[c];
  }
  const float mean = over_block(sum, add) / cols;
  const float variance = fmaxf(over_block(squares, add) / cols - mean * mean, 0.0f);
  const float factor = rsqrtf(variance + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += kThreads) y[c] = (x[c] - mean) * factor;
}
__global__ void layer_rows_welford(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  x += row_at(r, cols);
  y += row_at(r, cols);
  float mean = 0, squares = 0, count = 0;
  for (int c = lane; c < cols; c += 32) {
    const float away = x[c] - mean;
    count += 1;
    mean += away / count;
    squares += away * (x[c] - mean);
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    const float mean2 = __shfl_xor_sync(~0u, mean, mask);
    const float squares2 = __shfl_xor_sync(~0u, squares, mask);
    const float count2 = __shfl_xor_sync(~0u, count, mask);
    const float all = count + count2, away = mean2 - mean;
    if (all > 0) {
      squares += squares2 + away * away * count * count2 / all;
      mean += away * count2 / all;
    }
    count = all;
  }
  // The lanes' means may differ in the last bit.
  mean = __shfl_sync(~0u, mean, 0);
  const float factor = rsqrtf(__shfl_sync(~0u, squares, 0) / cols + 1e-5f);
  for (int c = lane; c < cols; c += 32) y[c] = (x[c] - mean) * factor;
}
extern "C" void layer_two_passes(const float* x, float* y, int rows, int cols) {
  layer_rows<<<rows, kThreads>>>(x, y, cols, true, Same());
}
extern "C" void layer_one_pass(const float* x, float* y, int rows, int cols) {
  layer_rows_one_pass<<<rows, kThreads>>>(x, y, cols);
}
extern "C" void layer_welford(const float* x, float* y, int rows, int cols) {
  layer_rows_welford<<<(rows + 7) / 8, 256>>>(x, y, rows, cols);
}
extern "C" void layer_without_mean(const float* x, float* y, int rows, int cols) {
  layer_rows<<<rows, kThreads>>>(x, y, cols, false, Same());
}
extern "C" void layer_of_bfloat(const float* x, float* y, int rows, int cols) {
  layer_rows<<<rows, kThreads>>>(x, y, cols, true, Bfloat());
}
