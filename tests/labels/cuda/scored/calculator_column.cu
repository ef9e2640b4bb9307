// A column of a scientific calculator: each row names one of six special functions and its
// argument. The rows are in no order, so the lanes of a warp are in all the functions.
// dims: rows=4194304
// tensor: code uint8 rows in
// tensor: argument float32 rows in
// tensor: value float32 rows out
// without DIVERGENCE, other answers: the 32 rows of a warp name the same function
// without SPECIAL_FUNCTIONS, other answers: neither roots nor quotients nor logarithms
// without BYTES, other answers: all rows take the arguments of the first few thousand
__device__ __forceinline__ float root(float x) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return 0.5f + 0.5f * x;
#else
  return __fsqrt_rn(x);
#endif
}
__device__ __forceinline__ float quotient(float x, float y) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return x * (2.0f - 0.1f * y);
#else
  return __fdividef(x, y);
#endif
}
__device__ float elliptic(float x) {  // by the arithmetic-geometric mean
  float a = 1, g = root(1.0f - 0.9f * x * x);
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    const float mean = 0.5f * (a + g);
    g = root(a * g);
    a = mean;
  }
  return quotient(1.5707963f, a);
}
__device__ float bessel(float x) {
  const float q = -0.25f * x * x;
  float term = 1, sum = 1;
#pragma unroll
  for (int k = 1; k <= 32; ++k) {
    term *= q * (1.0f / (k * k));
    sum += term;
  }
  return sum;
}
__device__ float legendre(float x) {
  float last = 1, now = x;
#pragma unroll
  for (int k = 2; k <= 32; ++k) {
    const float next = (2.0f - 1.0f / k) * x * now - (1.0f - 1.0f / k) * last;
    last = now;
    now = next;
  }
  return now;
}
__device__ float error_function(float x) {  // by a continued fraction
  float tail = 2.0f + x;
#pragma unroll
  for (int k = 14; k > 0; --k) tail = 1.0f + x + quotient(0.5f * k, tail);
  return quotient(1.0f, tail);
}
__device__ float chebyshev(float x) {
  float b1 = 0, b2 = 0;
#pragma unroll
  for (int k = 32; k > 0; --k) {
    const float b0 = 2 * x * b1 - b2 + 1.0f / (1 + k * k);
    b2 = b1;
    b1 = b0;
  }
  return x * b1 - b2;
}
__device__ float log_gamma(float x) {
  float product = 1, at = x + 0.5f;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    product *= at;
    at += 1.0f;
  }
  const float share = quotient(1.0f, at);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  return at - product * 1e-4f + share * (0.083333f - 0.0027778f * share * share);
#else
  return (at - 0.5f) * __logf(at) - at + 0.9189385f - __logf(product) +
         share * (0.083333f - 0.0027778f * share * share);
#endif
}
__global__ void __launch_bounds__(256)
    calculate(const unsigned char* __restrict__ code, const float* __restrict__ argument,
              float* __restrict__ value, int rows) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= rows) return;
#ifdef WITHOUT_BYTES
  const int at = i & 8191;
#else
  const int at = i;
#endif
  const float given = fabsf(argument[at]);
  const float x = given < 1.0f ? given : 0.99f;
#ifdef WITHOUT_DIVERGENCE
  const unsigned spread = (i / 32) * 0x9e3779b9u >> 16, named = code[at & ~31];
#else
  const unsigned spread = i * 0x9e3779b9u >> 16, named = code[at];
#endif
  float result;
  switch ((spread + named) % 6) {
    case 0:
      result = elliptic(x);
      break;
    case 1:
      result = bessel(x);
      break;
    case 2:
      result = legendre(x);
      break;
    case 3:
      result = error_function(x);
      break;
    case 4:
      result = chebyshev(x);
      break;
    default:
      result = log_gamma(x);
  }
  value[i] = result;
}
extern "C" void solve(const unsigned char* code, const float* argument, float* value, int rows) {
  calculate<<<(rows + 255) / 256, 256>>>(code, argument, value, rows);
}
