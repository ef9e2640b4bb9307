// Three streams, two operations per element: nothing but memory.
// dims: n=16777216
// tensor: a float32 n in
// tensor: b float32 n in
// tensor: y float32 n out
// without BYTES, other answers: reads one stream instead of two
// without ARITHMETIC, other answers: no multiplication
__global__ void triad(const float4* a, const float4* b, float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 s = a[i];
#ifdef WITHOUT_BYTES
  const float4 t = s;
#else
  const float4 t = b[i];
#endif
#ifdef WITHOUT_ARITHMETIC
  y[i] = make_float4(s.x + t.x, s.y + t.y, s.z + t.z, s.w + t.w);
#else
  y[i] = make_float4(s.x + 1.5f * t.x, s.y + 1.5f * t.y, s.z + 1.5f * t.z, s.w + 1.5f * t.w);
#endif
}
__global__ void rest(const float* a, const float* b, float* y, int begin, int n) {
  if (begin + int(threadIdx.x) < n)
    y[begin + threadIdx.x] = a[begin + threadIdx.x] + 1.5f * b[begin + threadIdx.x];
}
extern "C" void solve(const float* a, const float* b, float* y, int n) {
  const int quads = n / 4;
  triad<<<(quads + 255) / 256, 256>>>((const float4*)a, (const float4*)b, (float4*)y, quads);
  if (n % 4) rest<<<1, 32>>>(a, b, y, quads * 4, n);
}
