// Ultraviolet light that reaches the ground below each column of a chemistry model, attenuated by
// the ozone of 64 layers; a thread follows a column from the top down.
// dims: columns=262144
// tensor: ozone float32 columns,64 in
// tensor: light float32 columns out
// without STRIDED_ACCESS, other answers: the model is stored layer after layer
// without SPECIAL_FUNCTIONS, other answers: the attenuation of a layer is linear
// without BYTES, other answers: all threads follow the first 128 columns
__global__ void __launch_bounds__(128)
    attenuate(const float* __restrict__ ozone, float* __restrict__ light, int columns) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= columns) return;
#ifdef WITHOUT_BYTES
  const int column = i & 127;
#else
  const int column = i;
#endif
  float left = 1.0f, warmed = 0.0f;
#pragma unroll 8
  for (int layer = 0; layer < 64; ++layer) {
#ifdef WITHOUT_STRIDED_ACCESS
    const float amount = fabsf(ozone[size_t(layer) * columns + column]);
#else
    const float amount = fabsf(ozone[size_t(column) * 64 + layer]);
#endif
#ifdef WITHOUT_SPECIAL_FUNCTIONS
    const float passed = 1.0f - 0.01f * amount;
#else
    const float passed = __expf(-0.05f * amount);
#endif
    warmed += left * (1.0f - passed) * (0.5f + 0.01f * layer);
    left *= passed;
  }
  light[i] = left + 0.1f * warmed;
}
extern "C" void solve(const float* ozone, float* light, int columns) {
  attenuate<<<(columns + 127) / 128, 128>>>(ozone, light, columns);
}
