// Logarithms of the determinants of element stiffness matrices of 8 x 8, by a Cholesky
// factorization. A block fetches 64 matrices into shared memory and each of its threads factors
// one of them.
// dims: matrices=65536
// tensor: stiffness float32 matrices,64 in
// tensor: logdet float32 matrices out
// without BANK_CONFLICTS: a matrix takes 65 instead of 64 words of shared memory
// without SPECIAL_FUNCTIONS, other answers: no roots, divisions and logarithms
// without BYTES, other answers: all blocks have the first 64 matrices
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int kPitch = 65;
#else
constexpr int kPitch = 64;
#endif
__global__ void __launch_bounds__(64)
    factor(const float* __restrict__ stiffness, float* __restrict__ logdet) {
  __shared__ float all[64 * kPitch];
#ifdef WITHOUT_BYTES
  const float* from = stiffness;
#else
  const float* from = stiffness + size_t(blockIdx.x) * 64 * 64;
#endif
#pragma unroll 8
  for (int k = 0; k < 64; ++k) {
    const float value = from[k * 64 + threadIdx.x];
    const bool diagonal = threadIdx.x / 8 == threadIdx.x % 8;
    all[k * kPitch + threadIdx.x] = diagonal ? 4.0f + fabsf(value) : 0.1f * value;
  }
  __syncthreads();
  float* a = all + threadIdx.x * kPitch;
  float sum = 0.0f;
#pragma unroll 1
  for (int column = 0; column < 8; ++column) {
    float pivot = a[column * 9];
#pragma unroll 1
    for (int k = 0; k < column; ++k) pivot -= a[column * 8 + k] * a[column * 8 + k];
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float inverse = 0.75f - 0.0625f * pivot;
    sum += pivot;
#else
    const float inverse = rsqrtf(pivot);
    sum += __logf(pivot);
#endif
#pragma unroll 1
    for (int row = column + 1; row < 8; ++row) {
      float value = a[row * 8 + column];
#pragma unroll 1
      for (int k = 0; k < column; ++k) value -= a[row * 8 + k] * a[column * 8 + k];
      a[row * 8 + column] = value * inverse;
    }
  }
  logdet[blockIdx.x * 64 + threadIdx.x] = sum;
}
extern "C" void solve(const float* stiffness, float* logdet, int matrices) {
  factor<<<matrices / 64, 64>>>(stiffness, logdet);
}
