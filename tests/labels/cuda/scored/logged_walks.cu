// Random walks that keep a log: after each step a walk writes where it is, makes sure that this has
// arrived, and only then writes how far the log is valid.
// dims: walks=67584 steps=128
// tensor: seed int32 walks in
// tensor: log int32 steps,walks out
// tensor: valid int32 walks out
// without FENCES: as nobody reads before the end, there is a fence only after the last step
// without BYTES, other answers: each step is written over the one before
// without DEPENDENCE, other answers: a step does not start from where the last one ended
__global__ void __launch_bounds__(256)
    walk(const int* __restrict__ seed, int* log, int* valid, int walks, int steps) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= walks) return;
  const unsigned first = unsigned(seed[i]) + i * 0x9e3779b9u;
  unsigned at = first;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
#ifdef WITHOUT_DEPENDENCE
    unsigned h = (first + step) * 0x85ebca6bu;
#else
    unsigned h = (at + step) * 0x85ebca6bu;
#endif
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    at += (h >> 16 & 255) - 127;
#ifdef WITHOUT_BYTES
    const int line = 0;
#else
    const int line = step;
#endif
    *const_cast<volatile int*>(log + size_t(line) * walks + i) = int(at);
#ifndef WITHOUT_FENCES
    __threadfence();
#endif
    *const_cast<volatile int*>(valid + i) = step + 1;
  }
#ifdef WITHOUT_FENCES
  __threadfence();
#endif
}
extern "C" void solve(const int* seed, int* log, int* valid, int walks, int steps) {
  walk<<<(walks + 255) / 256, 256>>>(seed, log, valid, walks, steps);
}
