// Constant-Q transform: the spectrum of each frame of a sound, with filters that are half as long
// an octave higher: eight octaves of sixteen bins, of 4096 to 32 taps. A warp takes eight frames.
// dims: frames=1024 bins=128
// tensor: sound float32 frames*64+4096 in
// tensor: filters float32 bins*2040 in
// tensor: spectrum float32 frames*bins out
// without IMBALANCE: a block takes one bin of each octave for an eighth of the frames each, not one bin
// without STRIDED_ACCESS, other answers: the spectrum is stored by bins
// without SPECIAL_FUNCTIONS, other answers: the power, not its logarithm
__global__ void __launch_bounds__(512)
    transform(const float* __restrict__ sound, const float2* __restrict__ filters,
              float* __restrict__ spectrum, int frames, int bins) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 1
  for (int turn = 0; turn < 8; ++turn) {
    const int group = warp + 16 * turn;
#ifdef WITHOUT_IMBALANCE
    const int bin = (blockIdx.x + 16 * turn) & 127;
#else
    const int bin = blockIdx.x;
#endif
    const int octave = bin / 16, taps = 4096 >> octave;
    const float2* filter = filters + 16 * (8192 - (8192 >> octave)) + bin % 16 * taps;
    const float* in = sound + group * 8 * 64;
    float re[8] = {}, im[8] = {};
#pragma unroll 2
    for (int k = lane; k < taps; k += 32) {
      const float2 h = filter[k];
#pragma unroll
      for (int f = 0; f < 8; ++f) {
        const float x = in[f * 64 + k];
        re[f] += x * h.x;
        im[f] += x * h.y;
      }
    }
    float power = 0;
#pragma unroll
    for (int f = 0; f < 8; ++f) {
#pragma unroll
      for (int step = 16; step; step /= 2) {
        re[f] += __shfl_xor_sync(~0u, re[f], step);
        im[f] += __shfl_xor_sync(~0u, im[f], step);
      }
      if (lane == f) power = re[f] * re[f] + im[f] * im[f];
    }
    if (lane >= 8) continue;
    const int frame = group * 8 + lane;
#ifndef WITHOUT_SPECIAL_FUNCTIONS
    power = 10 * log10f(power + 1);
#endif
#ifdef WITHOUT_STRIDED_ACCESS
    spectrum[bin * frames + frame] = power;
#else
    spectrum[frame * bins + bin] = power;
#endif
  }
}
extern "C" void solve(const float* sound, const float* filters, float* spectrum, int frames,
                      int bins) {
  transform<<<bins, 512>>>(sound, reinterpret_cast<const float2*>(filters), spectrum, frames, bins);
}
