// Message weight of each edge of a molecular graph: 64 radial Bessel functions, weighted.
// dims: edges=2097152 orders=64
// tensor: lengths float32 edges in
// tensor: weights float32 orders in
// tensor: y float32 edges out
// without SPECIAL_FUNCTIONS: each sine follows from the two before it
// without NARROW_ACCESS: a thread reads and writes two edges at once
__device__ float message(float length, const float* weights) {
  const float r = 0.5f + 2 * (fabsf(length) - floorf(fabsf(length)));
  float sum = 0;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float twice = 2 * cosf(r);
  float before = 0, sine = sinf(r);
#pragma unroll
  for (int order = 0; order < 64; ++order) {
    sum += weights[order] * sine;
    const float next = twice * sine - before;
    before = sine;
    sine = next;
  }
#else
#pragma unroll
  for (int order = 0; order < 64; ++order) sum += weights[order] * __sinf((order + 1) * r);
#endif
  return sum / r;
}

__global__ void __launch_bounds__(256)
    messages(const float* lengths, const float* weights, float* y, int edges) {
  __shared__ float shared[64];
  if (threadIdx.x < 64) shared[threadIdx.x] = weights[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_NARROW_ACCESS
  if (2 * i >= edges) return;
  const float2 two = reinterpret_cast<const float2*>(lengths)[i];
  reinterpret_cast<float2*>(y)[i] = make_float2(message(two.x, shared), message(two.y, shared));
#else
  if (i < edges) y[i] = message(lengths[i], shared);
#endif
}

extern "C" void solve(const float* lengths, const float* weights, float* y, int edges, int orders) {
#ifdef WITHOUT_NARROW_ACCESS
  messages<<<(edges / 2 + 255) / 256, 256>>>(lengths, weights, y, edges);
#else
  messages<<<(edges + 255) / 256, 256>>>(lengths, weights, y, edges);
#endif
}
