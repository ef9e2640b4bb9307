// A product of 32 x 32 matrices: over before a launch has got under way.
// dims: m=32
// tensor: a float32 m,m in
// tensor: b float32 m,m in
// tensor: c float32 m,m out
// floor LAUNCHES, other answers: a kernel that does nothing
__global__ void product(const float* a, const float* b, float* c, int m) {
#ifndef WITHOUT_LAUNCHES
  for (int e = blockIdx.x * 128 + threadIdx.x; e < m * m; e += gridDim.x * 128) {
    float sum = 0;
#pragma unroll 8
    for (int p = 0; p < m; ++p) sum += a[e / m * m + p] * b[p * m + e % m];
    c[e] = sum;
  }
#endif
}
extern "C" void solve(const float* a, const float* b, float* c, int m) {
  product<<<8, 128>>>(a, b, c, m);
}
