// Adds a decaying echo, 1024 samples later, to each channel of a recording.
// dims: channels=528 samples=8192
// tensor: x float32 channels,samples in
// tensor: y float32 channels,samples out
// without LOW_OCCUPANCY: a delay line of the length used, not of the longest allowed
// without SERIAL_LOADS: eight samples are loaded before the first of them is used
extern __shared__ float line[];
__global__ void __launch_bounds__(128) echo(const float* x, float* y, int samples, int length) {
  const float* in = x + size_t(blockIdx.x) * samples;
  float* out = y + size_t(blockIdx.x) * samples;
  for (int k = threadIdx.x; k < 1024; k += 128) line[k] = 0;
  int write = 1024 + threadIdx.x, read = threadIdx.x;
#ifdef WITHOUT_SERIAL_LOADS
  for (int at = threadIdx.x; at < samples; at += 1024) {
    float next[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) next[k] = in[at + k * 128];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float v = next[k] + 0.5f * line[read];
      line[write] = v;
      out[at + k * 128] = v;
      write = write + 128 < length ? write + 128 : write + 128 - length;
      read = read + 128 < length ? read + 128 : read + 128 - length;
    }
  }
#else
  for (int at = threadIdx.x; at < samples; at += 128) {
    const float v = in[at] + 0.5f * line[read];
    line[write] = v;
    out[at] = v;
    write = write + 128 < length ? write + 128 : write + 128 - length;
    read = read + 128 < length ? read + 128 : read + 128 - length;
  }
#endif
}
extern "C" void solve(const float* x, float* y, int channels, int samples) {
#ifdef WITHOUT_LOW_OCCUPANCY
  const int length = 2048;
#else
  const int length = 48 * 1024;
#endif
  cudaFuncSetAttribute(echo, cudaFuncAttributeMaxDynamicSharedMemorySize, length * 4);
  echo<<<channels, 128, length * 4>>>(x, y, samples, length);
}
