// Simulates an ensemble of FitzHugh-Nagumo neurons, a thousand time steps each.
// dims: neurons=67584
// tensor: current float32 neurons in
// tensor: voltage float32 neurons out
// without DEPENDENCE: a thread steps its four neurons at the same time, not one after another
// without FEW_BLOCKS: a neuron per thread, in four times as many blocks
// without BYTES, other answers: the current is computed, not read
__device__ float drive(const float* current, int i) {
#ifdef WITHOUT_BYTES
  return 0.5f + 1e-7f * i;
#else
  return 0.5f + 0.1f * current[i];
#endif
}
__device__ void step(float& v, float& w, float in) {
  const float cubic = v * v * v;
  const float next = v + 0.02f * (v - 0.33333333f * cubic - w + in);
  w = w + 0.0016f * (v + 0.7f - 0.8f * w);
  v = next;
}
#ifdef WITHOUT_FEW_BLOCKS
constexpr int kEach = 1;
#else
constexpr int kEach = 4;
#endif
__global__ void __launch_bounds__(128)
    neuron_steps(const float* __restrict__ current, float* __restrict__ voltage, int neurons) {
  const int first = blockIdx.x * 128 + threadIdx.x, stride = gridDim.x * 128;
#ifdef WITHOUT_DEPENDENCE
  float v[kEach], w[kEach], in[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    v[k] = -1, w[k] = 0.5f;
    in[k] = drive(current, first + k * stride);
  }
#pragma unroll 1
  for (int t = 0; t < 1000; ++t) {
#pragma unroll
    for (int k = 0; k < kEach; ++k) step(v[k], w[k], in[k]);
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) voltage[first + k * stride] = v[k];
#else
#pragma unroll 1
  for (int k = 0; k < kEach; ++k) {
    float v = -1, w = 0.5f;
    const float in = drive(current, first + k * stride);
#pragma unroll 1
    for (int t = 0; t < 1000; ++t) step(v, w, in);
    voltage[first + k * stride] = v;
  }
#endif
}
extern "C" void solve(const float* current, float* voltage, int neurons) {
  neuron_steps<<<neurons / (128 * kEach), 128>>>(current, voltage, neurons);
}
