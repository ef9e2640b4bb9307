// Each thread follows a list through memory.
// dims: n=4194304
// tensor: next int32 n in permutation
// tensor: y int32 n out
// without DEPENDENCE, other answers: as many reads at random places that are known in advance
// without RANDOM_ACCESS, other answers: follows a list whose elements lie beside each other
constexpr int kWalkers = 132 * 64, kSteps = 64;
__global__ void walk(const int* next, int* y, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = t; i < n; i += kWalkers) y[i] = i;
  int at = int((long long)t * n / kWalkers), sum = 0;
  for (int k = 0; k < kSteps; ++k) {
#if defined(WITHOUT_DEPENDENCE)
    at = (unsigned(t) * 2654435761u + unsigned(k) * 40503u * 65539u) % unsigned(n);
    sum += next[at];
#elif defined(WITHOUT_RANDOM_ACCESS)
    at = (next[at] & 0) + (at + 1 < n ? at + 1 : 0);
    sum += at;
#else
    at = next[at];
    sum += at;
#endif
  }
  if (t < n) y[t] = sum;
}
extern "C" void solve(const int* next, int* y, int n) {
  walk<<<132, 64>>>(next, y, n);
}
