// Runs a byte program of its own for every element: the lanes of a warp stand at different
// operations.
// dims: n=1048576
// tensor: code uint8 16,n in
// tensor: x float32 n in
// tensor: y float32 n out
// without DIVERGENCE, other answers: the lanes of a warp do the operation of its first lane
// without BYTES, other answers: the operations come from the place of the element
// without LOCAL_MEMORY: the registers of the machine are separate variables
__device__ __forceinline__ float chain(float v, float a, float b, float c) {
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    v = v * a + b;
    v = v * c - a * b;
  }
  return v;
}
__global__ void __launch_bounds__(256)
    machine(const unsigned char* __restrict__ code, const float* __restrict__ x,
            float* __restrict__ y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int at = min(i, n - 1);
#ifdef WITHOUT_LOCAL_MEMORY
  float accumulator = x[at], other = 0.5f;
#else
  float file[2] = {x[at], 0.5f};
  float &accumulator = file[0], &other = file[1];
#endif
#pragma unroll 1
  for (int step = 0; step < 16; ++step) {
#ifdef WITHOUT_BYTES
    int operation = (at + step * 7919u) * 2654435761u >> 29;
#else
    int operation = code[size_t(step) * n + at] & 7;
#endif
#ifdef WITHOUT_DIVERGENCE
    operation = __shfl_sync(~0u, operation, 0);
#endif
    switch (operation) {
      case 0:
        accumulator = chain(accumulator, 0.31f, 0.5f, 0.7f) + other;
        break;
      case 1:
        other = chain(other, 0.42f, accumulator > 0 ? 0.2f : 0.1f, 0.6f);
        break;
      case 2:
        accumulator = chain(accumulator, 0.53f, 0.3f, 0.55f) * 0.5f - other;
        break;
      case 3:
        other = chain(other, 0.64f, 0.4f, 0.5f) - 0.25f * accumulator;
        break;
      case 4:
        accumulator = fmaxf(chain(accumulator, 0.75f, 0.1f, 0.45f), other);
        break;
      case 5:
        other = fminf(chain(other, 0.36f, 0.6f, 0.4f), accumulator);
        break;
      case 6:
        accumulator = fabsf(chain(accumulator, 0.47f, 0.7f, 0.35f)) + 0.1f * other;
        break;
      default: {
        const float t = chain(other, 0.58f, 0.8f, 0.3f);
        other = accumulator;
        accumulator = t;
      }
    }
    accumulator = fminf(8.0f, fmaxf(-8.0f, accumulator));
    other = fminf(8.0f, fmaxf(-8.0f, other));
  }
  if (i < n) y[i] = accumulator + other;
}
extern "C" void solve(const unsigned char* code, const float* x, float* y, int n) {
  machine<<<(n + 255) / 256, 256>>>(code, x, y, n);
}
