// Probes an open-addressing hash table for each key of a join's outer side.
// dims: slots=33554393 probes=2097152
// tensor: table int32 slots in
// tensor: keys int32 probes in
// tensor: found int32 probes out
// without RANDOM_ACCESS, other answers: neighboring probes start at neighboring slots
// without INTEGER_DIVISION, other answers: the hash is scaled to the slots by a multiplication
__device__ unsigned mixed(unsigned h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

__global__ void probe(const int* __restrict__ table, const int* __restrict__ keys,
                      int* __restrict__ found, int slots, int probes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= probes) return;
  const unsigned h = mixed(keys[i] + 0x9e3779b9u * i);
#ifdef WITHOUT_INTEGER_DIVISION
  unsigned slot = __umulhi(h, slots);
#else
  unsigned slot = h % unsigned(slots);
#endif
#ifdef WITHOUT_RANDOM_ACCESS
  slot = i + (slot & 1);
#endif
  int entry = table[slot];
  for (int step = 0; step < 8 && (entry & 3) == 3; ++step) {
    slot = slot + 1 == slots ? 0 : slot + 1;
    entry = table[slot];
  }
  found[i] = entry;
}

extern "C" void solve(const int* table, const int* keys, int* found, int slots, int probes) {
  probe<<<(probes + 255) / 256, 256>>>(table, keys, found, slots, probes);
}
