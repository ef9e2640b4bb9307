// Values a book of mixed contracts: each asks for its own formula along 24 dates.
// dims: n=1048576
// tensor: spot float32 n in
// tensor: value float32 n out
// without DIVERGENCE, other answers: the 32 contracts of a warp are of one kind
// without BYTES, other answers: the spots are computed, not read
__global__ void book_value(const float* __restrict__ spot, float* __restrict__ value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef WITHOUT_DIVERGENCE
  const unsigned kind = ((unsigned(i / 32) * 2654435761u) >> 16) % 6;
#else
  const unsigned kind = ((unsigned(i) * 2654435761u) >> 16) % 6;
#endif
#ifdef WITHOUT_BYTES
  float s = 1 + 1e-7f * i;
#else
  float s = 1 + 0.1f * spot[i];
#endif
  float sum = 0;
  switch (kind) {
    case 0:
#pragma unroll 1
      for (int t = 0; t < 24; ++t) {
        s = s * 1.001f + 0.002f * __sinf(s * t);
        sum += fmaxf(s - 1, 0.0f);
      }
      break;
    case 1:
#pragma unroll 1
      for (int t = 0; t < 24; ++t) {
        s = fmaf(s, 0.998f, 0.003f * __cosf(s + t));
        sum = fmaxf(sum, 1 - s);
      }
      break;
    case 2:
#pragma unroll 1
      for (int t = 0; t < 24; ++t) {
        s = s + 0.01f * __expf(-s * s);
        sum = sum * 0.99f + s;
      }
      break;
    case 3:
#pragma unroll 1
      for (int t = 0; t < 24; ++t) {
        s = s - 0.004f * rsqrtf(1 + s * s);
        sum += s * s;
      }
      break;
    case 4:
#pragma unroll 1
      for (int t = 0; t < 24; ++t) {
        s = s + 0.005f * __logf(1 + s * s);
        sum = fminf(sum + s, 9.0f);
      }
      break;
    default:
#pragma unroll 1
      for (int t = 0; t < 24; ++t) {
        s = __fdividef(s + 0.5f, 1 + 0.5f * s * s);
        sum = fmaf(sum, 0.5f, s);
      }
  }
  value[i] = sum;
}
extern "C" void solve(const float* spot, float* value, int n) {
  book_value<<<(n + 255) / 256, 256>>>(spot, value, n);
}
