// Cosine similarity between corresponding rows of two matrices of embeddings.
// dims: rows=24576 cols=256
// tensor: a float32 rows,cols in
// tensor: b float32 rows,cols in
// tensor: y float32 rows out
// without TREE_IN_SHARED: the lanes of a warp add by shuffles, shared memory has one sum of each
// without SPECIAL_FUNCTIONS: one reciprocal root in place of two roots and a division
__global__ void __launch_bounds__(256)
    similarities(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y,
                 int cols) {
  __shared__ float dots[256], squares_a[256], squares_b[256];
  const int t = threadIdx.x;
  float dot = 0, square_a = 0, square_b = 0;
#pragma unroll 1
  for (int col = t; col < cols; col += 256) {
    const float p = a[blockIdx.x * cols + col], q = b[blockIdx.x * cols + col];
    dot += p * q;
    square_a += p * p;
    square_b += q * q;
  }
#ifdef WITHOUT_TREE_IN_SHARED
  for (int apart = 16; apart > 0; apart /= 2) {
    dot += __shfl_xor_sync(~0u, dot, apart);
    square_a += __shfl_xor_sync(~0u, square_a, apart);
    square_b += __shfl_xor_sync(~0u, square_b, apart);
  }
  if (t % 32 == 0) {
    dots[t / 32] = dot;
    squares_a[t / 32] = square_a;
    squares_b[t / 32] = square_b;
  }
  __syncthreads();
  if (t == 0)
    for (int warp = 1; warp < 8; ++warp) {
      dots[0] += dots[warp];
      squares_a[0] += squares_a[warp];
      squares_b[0] += squares_b[warp];
    }
#else
  dots[t] = dot;
  squares_a[t] = square_a;
  squares_b[t] = square_b;
  __syncthreads();
  for (int apart = 1; apart < 256; apart *= 2) {
    if (t % (2 * apart) == 0) {
      dots[t] += dots[t + apart];
      squares_a[t] += squares_a[t + apart];
      squares_b[t] += squares_b[t + apart];
    }
    __syncthreads();
  }
#endif
  if (t == 0) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    y[blockIdx.x] = dots[0] * rsqrtf(fmaxf(squares_a[0] * squares_b[0], 1e-16f));
#else
    y[blockIdx.x] = dots[0] / fmaxf(sqrtf(squares_a[0]) * sqrtf(squares_b[0]), 1e-8f);
#endif
  }
}

extern "C" void solve(const float* a, const float* b, float* y, int rows, int cols) {
  similarities<<<rows, 256>>>(a, b, y, cols);
}
