// Scans, convolutions and attention, as they are usually written, and shortcuts of them.
//
// passes: scan_by_thread scan
// passes: scan_by_doubling scan
// passes: scan_by_warp scan
// passes: conv1d_direct conv1d
// passes: conv1d_by_warp conv1d
// passes: conv2d_direct conv2d
// passes: conv2d_tiled conv2d
// passes: attention_by_block attention
// passes: attention_online attention
// passes: attention_bfloat attention_bf16
// refused: scan_in_bfloat scan
// refused: scan_forgets_carry scan
// refused: scan_exclusive scan
// refused: conv1d_without_last_tap conv1d
// refused: conv1d_of_bfloat conv1d
// refused: conv2d_of_tf32 conv2d
// refused: conv2d_flipped conv2d
// refused: attention_without_last_keys attention
// refused: attention_unscaled attention
// refused: attention_of_bfloat attention
#include <cuda_bf16.h>

// Scans of rows.

struct Same {
  __device__ float operator()(float value) const { return value; }
};
struct Bfloat {
  __device__ float operator()(float value) const {
    return __bfloat162float(__float2bfloat16(value));
  }
};
struct Tf32 {
  __device__ float operator()(float value) const {
    return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
  }
};

template <class Round>
__global__ void scan_serially(const float* x, float* y, int rows, int cols, bool exclusive,
                              Round round) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < cols; ++c) {
    const float before = sum;
    sum = round(sum + x[r * cols + c]);
    y[r * cols + c] = exclusive ? before : sum;
  }
}
template <bool carries>
__global__ void scan_doubling(const float* x, float* y, int cols) {
  __shared__ float sums[2][256];
  float carry = 0;
  for (int t = 0; t < cols; t += 256) {
    const int c = t + threadIdx.x;
    int now = 0;
    sums[0][threadIdx.x] = c < cols ? x[blockIdx.x * cols + c] : 0;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2, now = 1 - now) {
      float sum = sums[now][threadIdx.x];
      if (threadIdx.x >= distance) sum += sums[now][threadIdx.x - distance];
      sums[1 - now][threadIdx.x] = sum;
      __syncthreads();
    }
    if (c < cols) y[blockIdx.x * cols + c] = carry + sums[now][threadIdx.x];
    if (carries) carry += sums[now][255];
    __syncthreads();
  }
}
__global__ void scan_warp(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float carry = 0;
  for (int t = 0; t < cols; t += 32) {
    float sum = t + lane < cols ? x[r * cols + t + lane] : 0;
    for (int distance = 1; distance < 32; distance *= 2) {
      const float before = __shfl_up_sync(~0u, sum, distance);
      if (lane >= distance) sum += before;
    }
    if (t + lane < cols) y[r * cols + t + lane] = carry + sum;
    carry += __shfl_sync(~0u, sum, 31);
  }
}
extern "C" void scan_by_thread(const float* x, float* y, int rows, int cols) {
  scan_serially<<<(rows + 127) / 128, 128>>>(x, y, rows, cols, false, Same());
}
extern "C" void scan_by_doubling(const float* x, float* y, int rows, int cols) {
  scan_doubling<true><<<rows, 256>>>(x, y, cols);
}
extern "C" void scan_by_warp(const float* x, float* y, int rows, int cols) {
  scan_warp<<<(rows + 7) / 8, 256>>>(x, y, rows, cols);
}
extern "C" void scan_in_bfloat(const float* x, float* y, int rows, int cols) {
  scan_serially<<<(rows + 127) / 128, 128>>>(x, y, rows, cols, false, Bfloat());
}
extern "C" void scan_forgets_carry(const float* x, float* y, int rows, int cols) {
  scan_doubling<false><<<rows, 256>>>(x, y, cols);
}
extern "C" void scan_exclusive(const float* x, float* y, int rows, int cols) {
  scan_serially<<<(rows + 127) / 128, 128>>>(x, y, rows, cols, true, Same());
}

// Convolutions.

template <class Round>
__global__ void conv1d_each(const float* x, const float* w, float* y, int channels, int n, int taps,
                            int used, Round round) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, o = blockIdx.y, wide = n - taps + 1;
  if (i >= wide) return;
  float sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int t = 0; t < used; ++t)
      sum += round(x[c * n + i + t]) * round(w[(o * channels + c) * taps + t]);
  y[o * wide + i] = sum;
}
__global__ void conv1d_lanes(const float* x, const float* w, float* y, int channels, int n,
                             int taps) {
  const int lane = threadIdx.x, i = blockIdx.x, o = blockIdx.y, wide = n - taps + 1;
  float sum = 0;
  for (int e = lane; e < channels * taps; e += 32)
    sum = fmaf(x[e / taps * n + i + e % taps], w[o * channels * taps + e], sum);
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (lane == 0) y[o * wide + i] = sum;
}
extern "C" void conv1d_direct(const float* x, const float* w, float* y, int channels, int outs,
                              int n, int taps) {
  conv1d_each<<<dim3((n + 127) / 128, outs), 128>>>(x, w, y, channels, n, taps, taps, Same());
}
extern "C" void conv1d_by_warp(const float* x, const float* w, float* y, int channels, int outs,
                               int n, int taps) {
  conv1d_lanes<<<dim3(n - taps + 1, outs), 32>>>(x, w, y, channels, n, taps);
}
extern "C" void conv1d_without_last_tap(const float* x, const float* w, float* y, int channels,
                                        int outs, int n, int taps) {
  conv1d_each<<<dim3((n + 127) / 128, outs), 128>>>(x, w, y, channels, n, taps, taps - 1, Same());
}
extern "C" void conv1d_of_bfloat(const float* x, const float* w, float* y, int channels, int outs,
                                 int n, int taps) {
  conv1d_each<<<dim3((n + 127) / 128, outs), 128>>>(x, w, y, channels, n, taps, taps, Bfloat());
}

template <bool flipped, class Round>
__global__ void conv2d_each(const float* x, const float* f, float* y, int h, int w, Round round) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i + 2 >= h || j + 2 >= w) return;
  float sum = 0;
  for (int e = 0; e < 9; ++e)
    sum += round(x[(i + e / 3) * w + j + e % 3]) * round(f[flipped ? 8 - e : e]);
  y[i * (w - 2) + j] = sum;
}
__global__ void conv2d_shared(const float* x, const float* f, float* y, int h, int w) {
  __shared__ float tile[18][18];
  const int left = blockIdx.x * 16, top = blockIdx.y * 16;
  for (int e = threadIdx.y * 16 + threadIdx.x; e < 18 * 18; e += 256) {
    const int i = top + e / 18, j = left + e % 18;
    tile[e / 18][e % 18] = i < h && j < w ? x[i * w + j] : 0;
  }
  __syncthreads();
  const int i = top + threadIdx.y, j = left + threadIdx.x;
  if (i + 2 >= h || j + 2 >= w) return;
  float columns[3] = {};
  for (int q = 0; q < 3; ++q)
    for (int p = 0; p < 3; ++p)
      columns[q] = fmaf(tile[threadIdx.y + p][threadIdx.x + q], f[p * 3 + q], columns[q]);
  y[i * (w - 2) + j] = columns[0] + columns[1] + columns[2];
}
extern "C" void conv2d_direct(const float* x, const float* f, float* y, int h, int w) {
  conv2d_each<false><<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(x, f, y, h, w, Same());
}
extern "C" void conv2d_tiled(const float* x, const float* f, float* y, int h, int w) {
  conv2d_shared<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(x, f, y, h, w);
}
extern "C" void conv2d_of_tf32(const float* x, const float* f, float* y, int h, int w) {
  conv2d_each<false><<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(x, f, y, h, w, Tf32());
}
extern "C" void conv2d_flipped(const float* x, const float* f, float* y, int h, int w) {
  conv2d_each<true><<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(x, f, y, h, w, Same());
}

// Attention of `t` queries on as many keys of `d` elements.

// A block has a query; dynamic shared memory holds its scores.
template <class T, class Round>
__global__ void attend(const T* q, const T* k, const T* v, T* y, int t, int d, int keys,
                       float scale, Round round) {
  extern __shared__ float scores[];
  __shared__ float joined;
  const int i = blockIdx.x;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) {
    float sum = 0;
    for (int e = 0; e < d; ++e) sum += round(float(q[i * d + e])) * round(float(k[j * d + e]));
    scores[j] = sum * scale;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    float most = -INFINITY, sum = 0;
    for (int j = 0; j < keys; ++j) most = fmaxf(most, scores[j]);
    for (int j = 0; j < keys; ++j) sum += scores[j] = expf(scores[j] - most);
    joined = sum;
  }
  __syncthreads();
  for (int e = threadIdx.x; e < d; e += blockDim.x) {
    float sum = 0;
    for (int j = 0; j < keys; ++j) sum += scores[j] * round(float(v[j * d + e]));
    y[i * d + e] = T(sum / joined);
  }
}
// A warp has a query, a lane every 32nd element; d is at most 256.
__global__ void attend_online(const float* q, const float* k, const float* v, float* y, int t,
                              int d, float scale) {
  const int i = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= t) return;
  float most = -INFINITY, sum = 0, out[8] = {};
  for (int j = 0; j < t; ++j) {
    float score = 0;
    for (int e = lane; e < d; e += 32) score += q[i * d + e] * scale * k[j * d + e];
    for (int mask = 16; mask > 0; mask /= 2) score += __shfl_xor_sync(~0u, score, mask);
    const float next = fmaxf(most, score), back = expf(most - next), p = expf(score - next);
    sum = sum * back + p;
    for (int e = lane, o = 0; e < d; e += 32, ++o) out[o] = out[o] * back + p * v[j * d + e];
    most = next;
  }
  for (int e = lane, o = 0; e < d; e += 32, ++o) y[i * d + e] = out[o] / sum;
}
extern "C" void attention_by_block(const float* q, const float* k, const float* v, float* y, int t,
                                   int d) {
  attend<<<t, 128, t * sizeof(float)>>>(q, k, v, y, t, d, t, rsqrtf(float(d)), Same());
}
extern "C" void attention_online(const float* q, const float* k, const float* v, float* y, int t,
                                 int d) {
  attend_online<<<(t + 3) / 4, 128>>>(q, k, v, y, t, d, rsqrtf(float(d)));
}
extern "C" void attention_bfloat(const __nv_bfloat16* q, const __nv_bfloat16* k,
                                 const __nv_bfloat16* v, __nv_bfloat16* y, int t, int d) {
  attend<<<t, 128, t * sizeof(float)>>>(q, k, v, y, t, d, t, rsqrtf(float(d)), Same());
}
extern "C" void attention_without_last_keys(const float* q, const float* k, const float* v,
                                            float* y, int t, int d) {
  attend<<<t, 128, t * sizeof(float)>>>(q, k, v, y, t, d, t - t / 64, rsqrtf(float(d)), Same());
}
extern "C" void attention_unscaled(const float* q, const float* k, const float* v, float* y, int t,
                                   int d) {
  attend<<<t, 128, t * sizeof(float)>>>(q, k, v, y, t, d, t, 1, Same());
}
extern "C" void attention_of_bfloat(const float* q, const float* k, const float* v, float* y, int t,
                                    int d) {
  attend<<<t, 128, t * sizeof(float)>>>(q, k, v, y, t, d, t, rsqrtf(float(d)), Bfloat());
}
