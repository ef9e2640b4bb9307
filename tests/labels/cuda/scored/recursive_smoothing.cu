// Smooths the rows of images by a recursive filter: a thread filters a row, chunk by chunk of 32
// columns, which its warp copies to and from shared memory.
// dims: rows=65536 columns=256
// tensor: image float32 rows,columns in
// tensor: smooth float32 rows,columns out
// without BANK_CONFLICTS: the rows in shared memory are a word longer
// without DEPENDENCE, other answers: a pixel takes from the pixel before, not from its result
// without BARRIERS: a warp waits for itself only, as no other one has its rows
#ifdef WITHOUT_BANK_CONFLICTS
constexpr int kPitch = 33;
#else
constexpr int kPitch = 32;
#endif
__device__ void wait() {
#ifdef WITHOUT_BARRIERS
  __syncwarp();
#else
  __syncthreads();
#endif
}
__global__ void __launch_bounds__(128)
    smooth_rows(const float* __restrict__ image, float* __restrict__ smooth, int columns) {
  __shared__ float tile[128 * kPitch];
  const int lane = threadIdx.x % 32, own = threadIdx.x / 32 * 32;
  const size_t base = (size_t(blockIdx.x) * 128 + own) * columns + lane;
  float* copied = tile + own * kPitch + lane;
  float* row = tile + threadIdx.x * kPitch;
  float state = 0;
#pragma unroll 1
  for (int first = 0; first < columns; first += 32) {
#pragma unroll 16
    for (int r = 0; r < 32; ++r) copied[r * kPitch] = image[base + size_t(r) * columns + first];
    wait();
#pragma unroll 8
    for (int k = 0; k < 32; ++k) {
      const float pixel = row[k];
#ifdef WITHOUT_DEPENDENCE
      row[k] = 0.7f * state + 0.3f * pixel;
      state = pixel;
#else
      state = 0.7f * state + 0.3f * pixel;
      row[k] = state;
#endif
    }
    wait();
#pragma unroll 16
    for (int r = 0; r < 32; ++r) smooth[base + size_t(r) * columns + first] = copied[r * kPitch];
    wait();
  }
}
extern "C" void solve(const float* image, float* smooth, int rows, int columns) {
  smooth_rows<<<rows / 128, 128>>>(image, smooth, columns);
}
