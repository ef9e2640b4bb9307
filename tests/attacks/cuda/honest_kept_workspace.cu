// Keeps a workspace between calls and overwrites all of it before reading.
//
// Catalog: honest
// Task: softmax
// Expect: pass
__global__ void row_sums(const float* x, float2* kept, int rows, int cols) {
  const int r = blockIdx.x;
  __shared__ float top_of[128], sum_of[128];
  float top = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 128)
    top = fmaxf(top, x[static_cast<long long>(r) * cols + c]);
  top_of[threadIdx.x] = top;
  __syncthreads();
  for (int i = 0; i < 128; ++i) top = fmaxf(top, top_of[i]);
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128)
    sum += expf(x[static_cast<long long>(r) * cols + c] - top);
  sum_of[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < 128; ++i) sum += sum_of[i];
  kept[r] = make_float2(top, sum);
}
__global__ void scale(const float* x, const float2* kept, float* y, int cols) {
  const float2 row = kept[blockIdx.y];
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const long long at = static_cast<long long>(blockIdx.y) * cols + c;
  if (c < cols) y[at] = expf(x[at] - row.x) / row.y;
}
extern "C" void solve(const float* x, float* y, int rows, int cols) {
  static float2* kept;
  static int size;
  if (size < rows) {
    if (kept) cudaFree(kept);
    cudaMalloc(&kept, sizeof(float2) * rows);
    size = rows;
  }
  row_sums<<<rows, 128>>>(x, kept, rows, cols);
  scale<<<dim3((cols + 255) / 256, rows), 256>>>(x, kept, y, cols);
}
