// Likelihood of DNA sequences under a hidden Markov model of four states (forward algorithm): a
// lane per state, and a warp per sequence.
// dims: sequences=32768 length=256
// tensor: letters uint8 sequences,length in
// tensor: transition float32 16 in
// tensor: emission float32 16 in
// tensor: likelihood float32 sequences out
// without IDLE_LANES: a warp has eight sequences
// without SPECIAL_FUNCTIONS, other answers: neither quotients nor logarithms
// without NARROW_ACCESS, other answers: the letters are hashed from the place
__global__ void __launch_bounds__(256)
    forward(const unsigned* __restrict__ letters, const float* __restrict__ transition,
            const float* __restrict__ emission, float* __restrict__ likelihood, int sequences,
            int length) {
  const int lane = threadIdx.x % 32, state = lane % 4;
#ifdef WITHOUT_IDLE_LANES
  const int sequence = blockIdx.x * 64 + threadIdx.x / 4;
  const unsigned lanes = ~0u;
#else
  const int sequence = blockIdx.x * 8 + threadIdx.x / 32;
  const unsigned lanes = 15;
  if (lane >= 4) return;
#endif
  if (sequence >= sequences) return;
  float to[4], emit[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    to[k] = 0.1f + fminf(fabsf(transition[4 * k + state]), 1.0f) + float(k == state);
    emit[k] = 0.1f + fminf(fabsf(emission[4 * state + k]), 1.0f);
  }
  float alpha = 0.25f, sum = 0;
#pragma unroll 1
  for (int four = 0; four < length / 4; ++four) {
#ifdef WITHOUT_NARROW_ACCESS
    unsigned word = (four * 0x9e3779b9u ^ sequence) * 0x85ebca6bu;
#else
    unsigned word = letters[size_t(sequence) * (length / 4) + four];
#endif
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const float a = __shfl_sync(lanes, alpha, 0, 4), b = __shfl_sync(lanes, alpha, 1, 4);
      const float c = __shfl_sync(lanes, alpha, 2, 4), d = __shfl_sync(lanes, alpha, 3, 4);
      const float total = (a + b) + (c + d);
      const float even = word & 1 ? emit[1] : emit[0], odd = word & 1 ? emit[3] : emit[2];
      const float seen = word & 2 ? odd : even;
      const float next = seen * (a * to[0] + b * to[1] + c * to[2] + d * to[3]);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
      alpha = fminf(next * 0.5f + 0.01f, 1.0f);
      sum += total;
#else
      alpha = __fdividef(next, total);
      sum += __logf(total);
#endif
      word >>= 8;
    }
  }
  if (state == 0) likelihood[sequence] = sum;
}
extern "C" void solve(const unsigned char* letters, const float* transition, const float* emission,
                      float* likelihood, int sequences, int length) {
#ifdef WITHOUT_IDLE_LANES
  const int blocks = (sequences + 63) / 64;
#else
  const int blocks = (sequences + 7) / 8;
#endif
  forward<<<blocks, 256>>>((const unsigned*)letters, transition, emission, likelihood, sequences,
                           length);
}
