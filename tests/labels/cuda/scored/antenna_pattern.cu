// Pattern of a phased array of 2048 antennas: for each direction the squared magnitude of the sum
// of the waves of all antennas, which pass through shared memory.
// dims: directions=65536 antennas=2048
// tensor: toward float32 directions,2 in
// tensor: array float32 antennas,4 in
// tensor: pattern float32 directions out
// without SPECIAL_FUNCTIONS, other answers: parabolas instead of sine and cosine
// without SHARED_TRAFFIC: a thread has two directions, an antenna it has read serves both
// without BARRIERS, other answers: nobody waits for the antennas
#ifdef WITHOUT_SHARED_TRAFFIC
constexpr int kDirections = 2;
#else
constexpr int kDirections = 1;
#endif
#ifdef WITHOUT_BARRIERS
#define ANTENNAS_READY() __syncwarp()
#else
#define ANTENNAS_READY() __syncthreads()
#endif
constexpr int kThreads = 128;
__global__ void __launch_bounds__(kThreads)
    radiate(const float2* __restrict__ toward, const float4* __restrict__ array,
            float* __restrict__ pattern, int antennas) {
  __shared__ float4 near[kThreads];
  const int first = blockIdx.x * kThreads * kDirections + threadIdx.x;
  float2 way[kDirections];
  float real[kDirections] = {}, imaginary[kDirections] = {};
#pragma unroll
  for (int d = 0; d < kDirections; ++d) way[d] = toward[first + d * kThreads];
#pragma unroll 1
  for (int from = 0; from < antennas; from += kThreads) {
    ANTENNAS_READY();
    near[threadIdx.x] = array[from + threadIdx.x];
    ANTENNAS_READY();
#pragma unroll 8
    for (int k = 0; k < kThreads; ++k) {
      const float4 antenna = near[k];
#pragma unroll
      for (int d = 0; d < kDirections; ++d) {
        const float phase = antenna.x * way[d].x + antenna.y * way[d].y + antenna.z;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
        const float sine = phase * (1.0f - 0.1f * phase), cosine = 1.0f - 0.1f * phase * phase;
#else
        const float sine = __sinf(phase), cosine = __cosf(phase);
#endif
        real[d] += antenna.w * cosine;
        imaginary[d] += antenna.w * sine;
      }
    }
  }
#pragma unroll
  for (int d = 0; d < kDirections; ++d)
    pattern[first + d * kThreads] = real[d] * real[d] + imaginary[d] * imaginary[d];
}
extern "C" void solve(const float* toward, const float* array, float* pattern, int directions,
                      int antennas) {
  radiate<<<directions / (kThreads * kDirections), kThreads>>>(
      reinterpret_cast<const float2*>(toward), reinterpret_cast<const float4*>(array), pattern,
      antennas);
}
