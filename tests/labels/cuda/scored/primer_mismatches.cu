// For each read of 32 bases (two bits each): the primer of a panel with the fewest mismatches.
// dims: reads=262144 primers=64
// tensor: bases uint8 reads*8 in
// tensor: panel uint8 primers*8 in
// tensor: best int32 reads out
// without ARITHMETIC: mismatches are counted for 16 bases at once, by a population count
// without BYTES, other answers: the first 1024 reads are compared again and again
// without SHARED_TRAFFIC, other answers: the primers are made of their numbers, not read
__device__ int mismatches(unsigned a, unsigned b) {
  const unsigned differ = a ^ b;
#ifdef WITHOUT_ARITHMETIC
  return __popc((differ | (differ >> 1)) & 0x55555555u);
#else
  int count = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) count += ((differ >> (2 * k)) & 3u) != 0;
  return count;
#endif
}
__global__ void __launch_bounds__(256)
    best_primers(const uint2* __restrict__ bases, const uint2* __restrict__ panel,
                 int* __restrict__ best, int reads, int primers) {
  extern __shared__ uint2 shared_panel[];
  for (int k = threadIdx.x; k < primers; k += 256) shared_panel[k] = panel[k];
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= reads) return;
#ifdef WITHOUT_BYTES
  const uint2 read = bases[i & 1023];
#else
  const uint2 read = bases[i];
#endif
  int fewest = 64 << 16;
#pragma unroll 2
  for (int k = 0; k < primers; ++k) {
#ifdef WITHOUT_SHARED_TRAFFIC
    const uint2 primer = make_uint2(k * 2654435761u, k * 2246822519u);
#else
    const uint2 primer = shared_panel[k];
#endif
    const int count = mismatches(read.x, primer.x) + mismatches(read.y, primer.y);
    fewest = min(fewest, (count << 16) + k);
  }
  best[i] = fewest;
}
extern "C" void solve(const unsigned char* bases, const unsigned char* panel, int* best, int reads,
                      int primers) {
  best_primers<<<(reads + 255) / 256, 256, primers * sizeof(uint2)>>>(
      reinterpret_cast<const uint2*>(bases), reinterpret_cast<const uint2*>(panel), best, reads,
      primers);
}
