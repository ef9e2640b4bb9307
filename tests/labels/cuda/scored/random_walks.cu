// Node embeddings: walks ten steps from each start through a graph and adds up the nodes' marks.
// dims: nodes=33554432 walks=1048576
// tensor: mark int32 nodes in
// tensor: total int32 walks out
// without RANDOM_ACCESS, other answers: neighbors are near in memory, and so are the starts
// without DEPENDENCE, other answers: a step does not depend on the mark found before
__global__ void walk_marks(const int* __restrict__ mark, int* __restrict__ total, unsigned nodes,
                           int walks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= walks) return;
#ifdef WITHOUT_RANDOM_ACCESS
  unsigned node = unsigned(i) * 32;
#else
  unsigned node = unsigned(i) * 2654435761u;
#endif
  unsigned sum = 0, found = 0;
#pragma unroll
  for (int step = 0; step < 10; ++step) {
#ifdef WITHOUT_RANDOM_ACCESS
    const unsigned at = (unsigned(i) + step * unsigned(walks) + (found & 31)) & (nodes - 1);
#else
    const unsigned at = node & (nodes - 1);
#endif
    const unsigned m = unsigned(mark[at]) * 0x9e3779b9u;
    sum += m >> 8;
#ifndef WITHOUT_DEPENDENCE
    found = m >> 16;
#endif
    node = (node ^ (node >> 15)) * 2246822519u + 0x7feb352du + found * 2654435769u;
  }
  total[i] = int(sum);
}
extern "C" void solve(const int* mark, int* total, int nodes, int walks) {
  walk_marks<<<(walks + 255) / 256, 256>>>(mark, total, nodes, walks);
}
