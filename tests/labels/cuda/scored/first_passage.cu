// When each simulated path first leaves its corridor: adds up its moves until the sum is too large,
// which hardly ever happens. The next move is fetched after the last one has been looked at.
// dims: paths=32768 steps=512
// tensor: moves float32 steps,paths in
// tensor: corridor float32 paths in
// tensor: passage int32 paths out
// without SERIAL_LOADS: sixteen moves are fetched before the first of them is looked at
// without DIVERGENCE: a path goes on to the last step after it has left its corridor
// without BYTES, other answers: all paths have the first thousand moves of each step
__global__ void __launch_bounds__(256)
    passages(const float* __restrict__ moves, const float* __restrict__ corridor,
             int* __restrict__ passage, int paths, int steps) {
  const int path = blockIdx.x * 256 + threadIdx.x;
  if (path >= paths) return;
  const float limit = 600.0f + fabsf(corridor[path]);
#ifdef WITHOUT_BYTES
  const float* move = moves + (path & 1023);
#else
  const float* move = moves + path;
#endif
  float sum = 0;
  int at = steps;
#ifdef WITHOUT_SERIAL_LOADS
#pragma unroll 1
  for (int step = 0; step < steps && at == steps; step += 16) {
    float ahead[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) ahead[k] = move[size_t(step + k) * paths];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      sum += ahead[k];
      if (at == steps && fabsf(sum) > limit) at = step + k;
    }
  }
#else
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    sum += move[size_t(step) * paths];
#ifdef WITHOUT_DIVERGENCE
    // the sum is looked at, so the next load waits for this one as before
    if (__any_sync(__activemask(), fabsf(sum) > 1e30f)) break;
    at = at == steps && fabsf(sum) > limit ? step : at;
#else
    if (fabsf(sum) > limit) {
      at = step;
      break;
    }
#endif
  }
#endif
  passage[path] = at;
}
extern "C" void solve(const float* moves, const float* corridor, int* passage, int paths,
                      int steps) {
  passages<<<(paths + 255) / 256, 256>>>(moves, corridor, passage, paths, steps);
}
