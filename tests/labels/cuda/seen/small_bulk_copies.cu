// The copy engine is asked for 256 bytes at a time.
// dims: n=8388608
// tensor: x float32 n in
// tensor: y float32 1056 out
// without SMALL_COPIES, other answers: 8 KB at a time
#include <cstdint>
#ifdef WITHOUT_SMALL_COPIES
constexpr int kFloats = 2048;
#else
constexpr int kFloats = 64;
#endif
__device__ uint32_t shared_address(const void* p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
__device__ void wait_for(const uint64_t& barrier, int phase) {
  asm volatile(
      "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
      "@!p bra AGAIN;\n}" ::"r"(shared_address(&barrier)),
      "r"(phase)
      : "memory");
}
__global__ void __launch_bounds__(64) total(const float* x, float* y, int n) {
  alignas(128) __shared__ float part[2][kFloats];
  __shared__ uint64_t full[2];
  const int pieces = n / kFloats, t = threadIdx.x;
  if (t == 0)
    for (auto& barrier : full)
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
  __syncthreads();
  const auto ask = [&](int piece, int slot) {
    if (t != 0 || piece >= pieces) return;
    asm volatile(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&full[slot])),
        "r"(4 * kFloats)
        : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(part[slot])),
        "l"(x + size_t(piece) * kFloats), "r"(4 * kFloats), "r"(shared_address(&full[slot]))
        : "memory");
  };
  ask(blockIdx.x, 0);
  float sum = 0;
  int turn = 0;
  for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++turn) {
    ask(piece + gridDim.x, (turn + 1) % 2);
    wait_for(full[turn % 2], turn / 2 % 2);
    for (int k = t; k < kFloats; k += 64) sum += part[turn % 2][k];
    __syncthreads();
  }
  if (blockIdx.x == 0)
    for (int k = pieces * kFloats + t; k < n; k += 64) sum += x[k];
  for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  __shared__ float halves[2];
  if (t % 32 == 0) halves[t / 32] = sum;
  __syncthreads();
  if (t == 0) y[blockIdx.x] = halves[0] + halves[1];
}
extern "C" void solve(const float* x, float* y, int n) {
  total<<<1056, 64>>>(x, y, n);
}
