// Greedy decoding of speech frames: drops repeated labels and blanks of each sequence (CTC).
// dims: sequences=65536 frames=64
// tensor: labels int32 sequences,frames in
// tensor: y int32 sequences,frames out
// without IDLE_LANES: each lane of a warp decodes a sequence
// without DIVERGENCE: stores every label, and moves on only past those that are kept
#ifdef WITHOUT_IDLE_LANES
constexpr int kSequences = 32;
#else
constexpr int kSequences = 1;
#endif
constexpr int kFrames = 64, kPitch = kFrames + 1;

__global__ void __launch_bounds__(128)
    collapse(const int* __restrict__ labels, int* __restrict__ y, int sequences) {
  __shared__ int buffers[4][kSequences * kPitch], lengths[4][kSequences];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first = (blockIdx.x * 4 + warp) * kSequences;
  if (first >= sequences) return;
  int* buffer = buffers[warp];
#pragma unroll 4
  for (int i = lane; i < kSequences * kFrames; i += 32)
    buffer[i / kFrames * kPitch + i % kFrames] = labels[first * kFrames + i] & 3;
  __syncwarp();
  if (lane < kSequences) {
    int* mine = buffer + lane * kPitch;
    int length = 0, before = 0;
#pragma unroll 4
    for (int frame = 0; frame < kFrames; ++frame) {
      const int label = mine[frame];
#ifdef WITHOUT_DIVERGENCE
      mine[length] = label;
      length += label != before && label != 0;
#else
      if (label != before && label != 0) mine[length++] = label;
#endif
      before = label;
    }
    lengths[warp][lane] = length;
  }
  __syncwarp();
#pragma unroll 4
  for (int i = lane; i < kSequences * kFrames; i += 32) {
    const int sequence = i / kFrames, place = i % kFrames;
    const bool used = place < lengths[warp][sequence];
    y[first * kFrames + i] = used ? buffer[sequence * kPitch + place] : -1;
  }
}

extern "C" void solve(const int* labels, int* y, int sequences, int frames) {
  const int blocks = (sequences + 4 * kSequences - 1) / (4 * kSequences);
  collapse<<<blocks, 128>>>(labels, y, sequences);
}
