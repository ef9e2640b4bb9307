// Matrix product, accumulated in double. One thread per element.

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  double sum = 0;
  for (int l = 0; l < k; ++l)
    sum += static_cast<double>(a[static_cast<long long>(row) * k + l]) *
           b[static_cast<long long>(l) * n + column];
  c[static_cast<long long>(row) * n + column] = static_cast<float>(sum);
}

extern "C" void reference(const float* a, const float* b, float* c, int m, int n, int k) {
  product<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
}
