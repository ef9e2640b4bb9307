// Inverts bytes, one per thread.
// dims: n=67108864
// tensor: x uint8 n in
// tensor: y uint8 n out
// without NARROW_ACCESS: sixteen bytes per thread
__global__ void one(const unsigned char* x, unsigned char* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = ~x[i];
}
__global__ void sixteen(const uint4* x, uint4* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const uint4 v = x[i];
  y[i] = make_uint4(~v.x, ~v.y, ~v.z, ~v.w);
}
extern "C" void solve(const unsigned char* x, unsigned char* y, int n) {
#ifdef WITHOUT_NARROW_ACCESS
  const int quads = n / 16;
  sixteen<<<(quads + 255) / 256, 256>>>((const uint4*)x, (uint4*)y, quads);
  if (n % 16) one<<<1, 256>>>(x + quads * 16, y + quads * 16, n % 16);
#else
  one<<<(n + 255) / 256, 256>>>(x, y, n);
#endif
}
