// Scales attention scores and adds the linear position bias of each head (ALiBi).
// dims: heads=8 queries=1024 keys=2048
// tensor: scores float32 heads,queries,keys in
// tensor: y float32 heads,queries,keys out
// without BYTES: computes the bias where it is added, no matrix of it in memory
// without SPECIAL_FUNCTIONS: the slope of a head is a power of two, built from its exponent
__device__ float4 bias_matrix[8 * 1024 * 2048 / 4];

__device__ float4 bias_of(int head, int query, int key, float exponent) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float slope = __int_as_float((126 - head) << 23);
#else
  const float slope = exp2f(exponent * (head + 1));
#endif
  const float first = key - query;
  return make_float4(slope * first, slope * (first + 1), slope * (first + 2), slope * (first + 3));
}

__global__ void fill_bias(float exponent, int queries, int keys) {
  const int key = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int query = blockIdx.y, head = blockIdx.z;
  if (key < keys)
    bias_matrix[((head * queries + query) * keys + key) / 4] = bias_of(head, query, key, exponent);
}

__global__ void add_bias(const float4* scores, float4* y, float exponent, int queries, int keys) {
  const int key = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int query = blockIdx.y, head = blockIdx.z;
  if (key >= keys) return;
  const int i = ((head * queries + query) * keys + key) / 4;
#ifdef WITHOUT_BYTES
  const float4 bias = bias_of(head, query, key, exponent);
#else
  const float4 bias = bias_matrix[i];
#endif
  const float4 s = scores[i];
  y[i] = make_float4(s.x * 0.125f + bias.x, s.y * 0.125f + bias.y, s.z * 0.125f + bias.z,
                     s.w * 0.125f + bias.w);
}

extern "C" void solve(const float* scores, float* y, int heads, int queries, int keys) {
  const float exponent = -8.0f / heads;
  const dim3 grid((keys / 4 + 255) / 256, queries, heads);
#ifndef WITHOUT_BYTES
  fill_bias<<<grid, 256>>>(exponent, queries, keys);
#endif
  add_bias<<<grid, 256>>>(reinterpret_cast<const float4*>(scores), reinterpret_cast<float4*>(y),
                          exponent, queries, keys);
}
