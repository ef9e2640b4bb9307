// Spreads the smallest label along links; after every pass the host reads whether anything has
// changed.
// dims: n=65536
// tensor: next int32 n in permutation
// tensor: label int32 n out
// tensor: other int32 n out
// tensor: changed int32 16 out
// without HOST_WAITS: all passes are launched without a look at the flag
// without RANDOM_ACCESS, other answers: every element is linked to the one after it
// without DIVERGENCE: the flag is written without a branch around it
__global__ void __launch_bounds__(256) begin(int* __restrict__ label, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) label[i] = i;
}
__global__ void __launch_bounds__(256)
    pass(const int* __restrict__ next, const int* __restrict__ from, int* __restrict__ to,
         int* changed, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_RANDOM_ACCESS
  const int link = next[i] < 0 ? 0 : i + 1 < n ? i + 1 : 0;
#else
  const int link = next[i];
#endif
  const int mine = from[i], theirs = from[link], least = min(mine, theirs);
  to[i] = least;
#ifdef WITHOUT_DIVERGENCE
  if (__any_sync(__activemask(), least < mine)) *changed = 1;
#else
  if (least < mine) *changed = 1;
#endif
}
extern "C" void solve(const int* next, int* label, int* other, int* changed, int n) {
  const int blocks = (n + 255) / 256;
  cudaMemsetAsync(changed, 0, 16 * sizeof(int));
  begin<<<blocks, 256>>>(label, n);
  int *from = label, *to = other;
  for (int k = 0; k < 16; ++k) {
    pass<<<blocks, 256>>>(next, from, to, changed + k, n);
#ifndef WITHOUT_HOST_WAITS
    int any = 0;
    cudaMemcpy(&any, changed + k, sizeof any, cudaMemcpyDeviceToHost);
    if (!any) break;  // Both lists are the same now.
#endif
    int* const swapped = from;
    from = to;
    to = swapped;
  }
}
