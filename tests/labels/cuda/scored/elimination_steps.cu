// Gaussian elimination of one small matrix, to whose diagonal a ridge is added, a launch for each
// pivot.
// dims: n=96
// tensor: matrix float32 n,n in
// tensor: reduced float32 n,n out
// without LAUNCHES: one block takes all pivots, with the matrix in shared memory
// without STRIDED_ACCESS: neighboring threads update neighbors in a row, not in a column
// without INTEGER_DIVISION: threads know their rows and columns from blocks in two dimensions
#ifdef WITHOUT_LAUNCHES
__global__ void __launch_bounds__(1024)
    eliminate(const float* __restrict__ matrix, float* __restrict__ reduced, int n) {
  __shared__ float a[96][97];
  const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  for (int row = ty; row < n; row += 32)
    for (int column = tx; column < n; column += 32)
      a[row][column] = matrix[row * n + column] + (row == column ? 2.0f * n : 0.0f);
  for (int pivot = 0; pivot < n - 1; ++pivot) {
    __syncthreads();
    for (int row = pivot + 1 + ty; row < n; row += 32) {
      const float factor = a[row][pivot] / a[pivot][pivot];
      for (int column = pivot + 1 + tx; column < n; column += 32)
        a[row][column] -= factor * a[pivot][column];
    }
  }
  __syncthreads();
  for (int row = ty; row < n; row += 32)
    for (int column = tx; column < n; column += 32) reduced[row * n + column] = a[row][column];
}
#else
__device__ bool place(int n, int& row, int& column) {
#ifdef WITHOUT_INTEGER_DIVISION
  const int slow = blockIdx.y * 8 + threadIdx.y, fast = blockIdx.x * 32 + threadIdx.x;
#else
  const int t = blockIdx.x * 256 + threadIdx.x, slow = t / n, fast = t % n;
#endif
#ifdef WITHOUT_STRIDED_ACCESS
  row = slow, column = fast;
#else
  row = fast, column = slow;
#endif
  return slow < n && fast < n;
}
__global__ void add_ridge(const float* __restrict__ matrix, float* __restrict__ reduced, int n) {
  int row, column;
  if (place(n, row, column))
    reduced[row * n + column] = matrix[row * n + column] + (row == column ? 2.0f * n : 0.0f);
}
__global__ void eliminate(float* a, int n, int pivot) {
  int row, column;
  if (place(n, row, column) && row > pivot && column > pivot) {
    const float factor = a[row * n + pivot] / a[pivot * n + pivot];
    a[row * n + column] -= factor * a[pivot * n + column];
  }
}
#endif
extern "C" void solve(const float* matrix, float* reduced, int n) {
#ifdef WITHOUT_LAUNCHES
  eliminate<<<1, 1024>>>(matrix, reduced, n);
#else
#ifdef WITHOUT_INTEGER_DIVISION
  const dim3 grid((n + 31) / 32, (n + 7) / 8), block(32, 8);
#else
  const dim3 grid((n * n + 255) / 256), block(256);
#endif
  add_ridge<<<grid, block>>>(matrix, reduced, n);
  for (int pivot = 0; pivot < n - 1; ++pivot) eliminate<<<grid, block>>>(reduced, n, pivot);
#endif
}
