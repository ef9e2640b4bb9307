// Joins order lines with the products' discounts, a table of which each block keeps in shared
// memory.
// dims: lines=8388608 products=24576
// tensor: product int32 lines in
// tensor: price float32 lines in
// tensor: discounts float32 products in
// tensor: paid float32 lines out
// without LOW_OCCUPANCY: 1024 threads share a table, not 64
// without BANK_CONFLICTS, other answers: each lane looks up products of its own bank
#ifdef WITHOUT_LOW_OCCUPANCY
constexpr int kThreads = 1024;
#else
constexpr int kThreads = 64;
#endif
__global__ void __launch_bounds__(kThreads)
    pay(const int* __restrict__ product, const float* __restrict__ price,
        const float* __restrict__ discounts, float* __restrict__ paid, int lines, int products) {
  extern __shared__ float4 quads[];
  const float* table = reinterpret_cast<const float*>(quads);
#pragma unroll 8
  for (int k = threadIdx.x; k < products / 4; k += kThreads)
    quads[k] = reinterpret_cast<const float4*>(discounts)[k];
  __syncthreads();
  const unsigned last = products - 1;
#pragma unroll 4
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < lines; i += gridDim.x * kThreads) {
    unsigned which = min(unsigned(product[i]), last);
#ifdef WITHOUT_BANK_CONFLICTS
    which = (which & ~31u) + threadIdx.x % 32;
#endif
    paid[i] = price[i] * fmaf(-0.01f, table[which], 1.0f);
  }
}
extern "C" void solve(const int* product, const float* price, const float* discounts, float* paid,
                      int lines, int products) {
  if (products % 32) return;
  const int bytes = products * sizeof(float);
  cudaFuncSetAttribute(pay, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  pay<<<2 * 132, kThreads, bytes>>>(product, price, discounts, paid, lines, products);
}
