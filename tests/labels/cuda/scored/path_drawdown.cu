// Largest loss from a peak along each simulated price path of 96 days.
// dims: paths=270336 days=96
// tensor: moves float32 paths*days in
// tensor: loss float32 paths out
// without STRIDED_ACCESS, other answers: the moves of one day of all paths lie together
// without SPECIAL_FUNCTIONS, other answers: prices grow by a product, not by an exponential
__global__ void __launch_bounds__(128)
    largest_losses(const float* __restrict__ moves, float* __restrict__ loss, int paths, int days) {
  const int path = blockIdx.x * 128 + threadIdx.x;
  if (path >= paths) return;
  float price = 1, peak = 1, worst = 0;
#pragma unroll 4
  for (int day = 0; day < days; ++day) {
#ifdef WITHOUT_STRIDED_ACCESS
    const float move = moves[day * paths + path];
#else
    const float move = moves[path * days + day];
#endif
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    price *= fmaf(move, 0.01f, 1.0f);
#else
    price *= __expf(0.01f * move);
#endif
    peak = fmaxf(peak, price);
    worst = fmaxf(worst, peak - price);
  }
  loss[path] = worst;
}
extern "C" void solve(const float* moves, float* loss, int paths, int days) {
  largest_losses<<<(paths + 127) / 128, 128>>>(moves, loss, paths, days);
}
