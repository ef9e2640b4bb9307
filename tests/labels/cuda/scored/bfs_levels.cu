// Breadth-first search of a random graph of four edges per vertex: the level of each vertex.
// dims: vertices=131072
// tensor: seeds int32 vertices in
// tensor: levels int32 vertices out
// without HOST_WAITS: launches twenty levels and never asks whether the last one found any vertex
// without INTEGER_DIVISION: as the vertices are a power of two, masks the hash
__device__ int found_any;

__global__ void start(int* levels, int vertices) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices) levels[v] = v == 0 ? 0 : -1;
}

__global__ void expand(const int* __restrict__ seeds, int* levels, int vertices, int level) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || levels[v] != level) return;
  const unsigned seed = seeds[v] + 0x9e3779b9u * v;
  for (int edge = 0; edge < 4; ++edge) {
    unsigned hash = (seed + edge) * 0x85ebca6bu;
    hash = (hash ^ hash >> 15) * 0xc2b2ae35u;
    hash ^= hash >> 13;
#ifdef WITHOUT_INTEGER_DIVISION
    const unsigned neighbor = hash & (vertices - 1);
#else
    const unsigned neighbor = hash % unsigned(vertices);
#endif
    if (levels[neighbor] < 0) {
      levels[neighbor] = level + 1;
      found_any = 1;
    }
  }
}

extern "C" void solve(const int* seeds, int* levels, int vertices) {
  const int blocks = (vertices + 255) / 256;
  int* flag;
  cudaGetSymbolAddress(reinterpret_cast<void**>(&flag), found_any);
  start<<<blocks, 256>>>(levels, vertices);
  for (int level = 0; level < 20; ++level) {
    cudaMemsetAsync(flag, 0, 4);
    expand<<<blocks, 256>>>(seeds, levels, vertices, level);
#ifndef WITHOUT_HOST_WAITS
    int found;
    cudaMemcpy(&found, flag, 4, cudaMemcpyDeviceToHost);
    if (!found) break;
#endif
  }
}
