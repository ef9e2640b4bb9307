// Neural radiance in cells: each ray asks the small two-layer network of its cell, one of 32.
// dims: rays=262144 weights=16384
// tensor: x float32 rays in
// tensor: w float32 weights in
// tensor: y float32 rays out
// without CONSTANT_CACHE: the weights come through L1 from where they were copied from
// without BYTES, other answers: a ray's input is computed from its index, not read
__constant__ float4 table[4096];
__device__ float4 weights_at(const float4* w, int k) {
#ifdef WITHOUT_CONSTANT_CACHE
  return __ldg(w + k);
#else
  return table[k];
#endif
}
__device__ void layer(const float4* w, int at, float* h) {
  float out[16];
#pragma unroll
  for (int row = 0; row < 16; ++row) {
    float sum = 0;
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const float4 v = weights_at(w, at + row * 4 + part);
      sum +=
          v.x * h[4 * part] + v.y * h[4 * part + 1] + v.z * h[4 * part + 2] + v.w * h[4 * part + 3];
    }
    out[row] = fmaxf(sum, 0.0f);
  }
#pragma unroll
  for (int row = 0; row < 16; ++row) h[row] = out[row] * 0.25f;
}
__global__ void __launch_bounds__(256)
    cell_networks(const float* __restrict__ x, const float4* __restrict__ w, float* __restrict__ y,
                  int rays) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= rays) return;
  const int cell = (unsigned(i / 8) * 2654435761u) >> 27;
#ifdef WITHOUT_BYTES
  const float v = float((unsigned(i) * 2246822519u) >> 8) * (1.0f / (1 << 23)) - 1;
#else
  const float v = x[i];
#endif
  float h[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) h[k] = v * (0.125f * k - 1) + 0.0625f * k;
  layer(w, cell * 128, h);
  layer(w, cell * 128 + 64, h);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += h[k];
  y[i] = sum;
}
extern "C" void solve(const float* x, const float* w, float* y, int rays, int weights) {
  cudaMemcpyToSymbolAsync(table, w, weights * sizeof(float), 0, cudaMemcpyDeviceToDevice);
  cell_networks<<<(rays + 255) / 256, 256>>>(x, reinterpret_cast<const float4*>(w), y, rays);
}
