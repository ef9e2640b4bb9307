// Spectra of molecules: each line is broadened to a mix of a Gaussian and a Lorentzian.
// dims: molecules=64 points=4096 peaks=768
// tensor: lines float32 molecules,peaks,4 in
// tensor: spectra float32 points,molecules out
// without SPECIAL_FUNCTIONS, other answers: polynomials in place of the power of two and the reciprocal
// without STRIDED_ACCESS, other answers: the spectra are stored molecule by molecule
// without NARROW_ACCESS: the four numbers of a line are loaded as one vector
__device__ float power_of_two(float x) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return fmaf(fmaf(x, 0.01f, 0.3f), x, 1.0f);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}
__device__ float reciprocal(float x) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return fmaf(fmaf(x, 0.02f, -0.3f), x, 1.0f);
#else
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}
__global__ void __launch_bounds__(256)
    broaden(const float* __restrict__ lines, float* __restrict__ spectra, int points, int peaks) {
  extern __shared__ float4 line[];  // scale, offset, and the weights of both shapes
  const int molecule = blockIdx.y;
  const float* own = lines + size_t(molecule) * peaks * 4;
  for (int i = threadIdx.x; i < peaks; i += 256) {
#ifdef WITHOUT_NARROW_ACCESS
    const float4 in = reinterpret_cast<const float4*>(own)[i];
#else
    const float4 in = make_float4(own[4 * i], own[4 * i + 1], own[4 * i + 2], own[4 * i + 3]);
#endif
    const float scale = 1 / (0.1f + 0.2f * fabsf(in.y)), mix = 1 / (1 + in.w * in.w);
    line[i] = make_float4(scale, -in.x * scale, fabsf(in.z) * mix, fabsf(in.z) * (1 - mix));
  }
  __syncthreads();
  float x[4], sum[4] = {};
#pragma unroll
  for (int k = 0; k < 4; ++k)
    x[k] = (blockIdx.x * 1024 + k * 256 + threadIdx.x) * (8.0f / points) - 4;
#pragma unroll 2
  for (int i = 0; i < peaks; ++i) {
    const float4 own_line = line[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float d = fmaf(x[k], own_line.x, own_line.y), dd = d * d;
      sum[k] = fmaf(own_line.z, power_of_two(-dd), sum[k]);
      sum[k] = fmaf(own_line.w, reciprocal(1 + dd), sum[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int point = blockIdx.x * 1024 + k * 256 + threadIdx.x;
#ifdef WITHOUT_STRIDED_ACCESS
    spectra[size_t(molecule) * points + point] = sum[k];
#else
    spectra[size_t(point) * gridDim.y + molecule] = sum[k];
#endif
  }
}
extern "C" void solve(const float* lines, float* spectra, int molecules, int points, int peaks) {
  broaden<<<dim3(points / 1024, molecules), 256, 16 * peaks>>>(lines, spectra, points, peaks);
}
