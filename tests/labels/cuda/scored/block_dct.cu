// Cosine transform of 8 x 8 blocks, quantization of the coefficients, and the inverse transform.
// dims: n=8388608
// tensor: x float32 n in
// tensor: y float32 n out
// without BANK_CONFLICTS: a block of the image takes 65 places in shared memory
// without ARITHMETIC, other answers: halves the products by the symmetry of the cosines
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int kPitch = 65;
#else
constexpr int kPitch = 64;
#endif

__device__ constexpr float kCosine[8][8] = {
    {0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f, 0.35355339f,
     0.35355339f},
    {0.49039264f, 0.41573481f, 0.27778512f, 0.09754516f, -0.09754516f, -0.27778512f, -0.41573481f,
     -0.49039264f},
    {0.46193977f, 0.19134172f, -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f,
     0.46193977f},
    {0.41573481f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f, 0.49039264f, 0.09754516f,
     -0.41573481f},
    {0.35355339f, -0.35355339f, -0.35355339f, 0.35355339f, 0.35355339f, -0.35355339f, -0.35355339f,
     0.35355339f},
    {0.27778512f, -0.49039264f, 0.09754516f, 0.41573481f, -0.41573481f, -0.09754516f, 0.49039264f,
     -0.27778512f},
    {0.19134172f, -0.46193977f, 0.46193977f, -0.19134172f, -0.19134172f, 0.46193977f, -0.46193977f,
     0.19134172f},
    {0.09754516f, -0.27778512f, 0.41573481f, -0.49039264f, 0.49039264f, -0.41573481f, 0.27778512f,
     -0.09754516f}};

template <bool kInverse, bool kQuantize>
__device__ void transform(float* line, int step) {
  float in[8], out[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) in[k] = line[k * step];
#ifdef WITHOUT_ARITHMETIC
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float even = 0, odd = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      even += kInverse ? in[2 * j] * kCosine[2 * j][k] : (in[j] + in[7 - j]) * kCosine[2 * k][j];
      odd += kInverse ? in[2 * j + 1] * kCosine[2 * j + 1][k]
                      : (in[j] - in[7 - j]) * kCosine[2 * k + 1][j];
    }
    out[kInverse ? k : 2 * k] = kInverse ? even + odd : even;
    out[kInverse ? 7 - k : 2 * k + 1] = kInverse ? even - odd : odd;
  }
#else
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    out[k] = 0;
#pragma unroll
    for (int j = 0; j < 8; ++j) out[k] += in[j] * (kInverse ? kCosine[j][k] : kCosine[k][j]);
  }
#endif
#pragma unroll
  for (int k = 0; k < 8; ++k) line[k * step] = kQuantize ? rintf(out[k] * 8.0f) * 0.125f : out[k];
}

__global__ void __launch_bounds__(256) blocks(const float* x, float* y, int n) {
  __shared__ float tile[32 * kPitch];
  const int first = blockIdx.x * 2048 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = k * 256 + threadIdx.x;
    tile[i / 64 * kPitch + i % 64] = first + k * 256 < n ? x[first + k * 256] : 0;
  }
  __syncthreads();
  float* mine = tile + threadIdx.x % 32 * kPitch;
  const int line = threadIdx.x / 32;
  transform<false, false>(mine + line * 8, 1);
  __syncthreads();
  transform<false, true>(mine + line, 8);
  __syncthreads();
  transform<true, false>(mine + line, 8);
  __syncthreads();
  transform<true, false>(mine + line * 8, 1);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = k * 256 + threadIdx.x;
    if (first + k * 256 < n) y[first + k * 256] = tile[i / 64 * kPitch + i % 64];
  }
}

extern "C" void solve(const float* x, float* y, int n) {
  blocks<<<(n + 2047) / 2048, 256>>>(x, y, n);
}
