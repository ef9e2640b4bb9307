// Rotary position embedding whose angles are computed in double precision because of a literal
// and the wrong functions.
// dims: tokens=32768 heads=2
// tensor: x float32 tokens,heads,128 in
// tensor: y float32 tokens,heads,128 out
// without DOUBLE_PRECISION, other answers: angles, sines and cosines in single precision
// without NARROW_ACCESS: two pairs are fetched in one load
// without DIVERGENCE: the second half of the head comes without a branch
__device__ __forceinline__ void rotate(int token, int pair, float a, float b, float& c, float& d) {
#ifdef WITHOUT_DOUBLE_PRECISION
  const float angle = float(token & 4095) * powf(10000.0f, -2.0f * pair / 128.0f);
  const float s = sinf(angle), t = cosf(angle);
#else
  const double angle = (token & 4095) * pow(10000.0, -2.0 * pair / 128);
  const float s = sin(angle), t = cos(angle);
#endif
  c = a * t - b * s;
  d = a * s + b * t;
}
__global__ void __launch_bounds__(128)
    rotary(const float* __restrict__ x, float* __restrict__ y, int vectors, int heads) {
#ifdef WITHOUT_NARROW_ACCESS
  const int vector = blockIdx.x * 4 + threadIdx.x / 32, pair = threadIdx.x % 32 * 2;
  if (vector >= vectors) return;
  const float* row = x + size_t(vector) * 128;
  const float2 a = *reinterpret_cast<const float2*>(row + pair),
               b = *reinterpret_cast<const float2*>(row + pair + 64);
  float2 c, d;
  rotate(vector / heads, pair, a.x, b.x, c.x, d.x);
  rotate(vector / heads, pair + 1, a.y, b.y, c.y, d.y);
  *reinterpret_cast<float2*>(y + size_t(vector) * 128 + pair) = c;
  *reinterpret_cast<float2*>(y + size_t(vector) * 128 + pair + 64) = d;
#else
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const int vector = blockIdx.x * 4 + threadIdx.x / 64 * 2 + k, pair = threadIdx.x % 64;
    if (vector >= vectors) return;
    const float* row = x + size_t(vector) * 128;
    float c, d;
    rotate(vector / heads, pair, row[pair], row[pair + 64], c, d);
#ifdef WITHOUT_DIVERGENCE
    y[size_t(vector) * 128 + pair] = c;
    y[size_t(vector) * 128 + pair + 64] = d;
#else
    for (int half = 0; half < 2; ++half) {
      if (half)
        y[size_t(vector) * 128 + pair + 64] = d;
      else
        y[size_t(vector) * 128 + pair] = c;
    }
#endif
  }
#endif
}
extern "C" void solve(const float* x, float* y, int tokens, int heads) {
  rotary<<<(tokens * heads + 3) / 4, 128>>>(x, y, tokens * heads, heads);
}
