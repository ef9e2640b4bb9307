// One AdamW step over all parameters: four arrays are read and three written, for little
// arithmetic on each element.
// dims: n=8388608
// tensor: w float32 n in
// tensor: g float32 n in
// tensor: m float32 n in
// tensor: v float32 n in
// tensor: w1 float32 n out
// tensor: m1 float32 n out
// tensor: v1 float32 n out
// floor BYTES, other answers: the same arrays are read and written without the arithmetic
// without SPECIAL_FUNCTIONS, other answers: no root
// without DIVERGENCE: the sign test is a product instead of a branch
__device__ __forceinline__ void step(float w, float g, float m, float v, float& w1, float& m1,
                                     float& v1) {
#ifdef WITHOUT_BYTES
  w1 = w + m;
  m1 = g;
  v1 = v;
#else
  v = fabsf(v);
  m1 = 0.9f * m + 0.1f * g;
  v1 = 0.999f * v + 0.001f * g * g;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  float update = m1 * (1.5f - 0.5f * v1);
#else
  float update = m1 * rsqrtf(v1 + 1e-12f);
#endif
#ifdef WITHOUT_DIVERGENCE
  update *= 1.0f - 0.5f * float(m1 * g < 0);
#else
  if (m1 * g < 0) update *= 0.5f;
#endif
  w1 = w - 1e-3f * (update + 0.01f * w);
#endif
}
__global__ void adamw(const float* __restrict__ w, const float* __restrict__ g,
                      const float* __restrict__ m, const float* __restrict__ v,
                      float* __restrict__ w1, float* __restrict__ m1, float* __restrict__ v1,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 < n) {
    const float4 a = reinterpret_cast<const float4*>(w)[i],
                 b = reinterpret_cast<const float4*>(g)[i],
                 c = reinterpret_cast<const float4*>(m)[i],
                 d = reinterpret_cast<const float4*>(v)[i];
    float4 x, y, z;
    step(a.x, b.x, c.x, d.x, x.x, y.x, z.x);
    step(a.y, b.y, c.y, d.y, x.y, y.y, z.y);
    step(a.z, b.z, c.z, d.z, x.z, y.z, z.z);
    step(a.w, b.w, c.w, d.w, x.w, y.w, z.w);
    reinterpret_cast<float4*>(w1)[i] = x;
    reinterpret_cast<float4*>(m1)[i] = y;
    reinterpret_cast<float4*>(v1)[i] = z;
  } else {
    for (int j = 4 * i; j < n; ++j) step(w[j], g[j], m[j], v[j], w1[j], m1[j], v1[j]);
  }
}
extern "C" void solve(const float* w, const float* g, const float* m, const float* v, float* w1,
                      float* m1, float* v1, int n) {
  adamw<<<(n / 4 + 256) / 256, 256>>>(w, g, m, v, w1, m1, v1, n);
}
