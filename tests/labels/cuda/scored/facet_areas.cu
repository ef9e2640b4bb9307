// Areas of the triangles of an unstructured surface mesh. A facet names its three corners; facets
// that face away from the viewer count as zero.
// dims: vertices=4194304 facets=4194304
// tensor: places float32 vertices,4 in
// tensor: corners int32 3,facets in
// tensor: areas float32 facets out
// without RANDOM_ACCESS, other answers: the corners of a facet lie among 32 neighboring vertices
// without SPECIAL_FUNCTIONS, other answers: the square of the area, without a root
// without DIVERGENCE: hidden facets are sorted out by a choice instead of a branch
__device__ __forceinline__ float4 corner(const float4* __restrict__ places, int name, int i,
                                         int vertices) {
#ifdef WITHOUT_RANDOM_ACCESS
  const int at = ((i & ~31) | (name & 31)) & (vertices - 1);
#else
  const int at = name & (vertices - 1);
#endif
  return __ldg(places + at);
}
__global__ void __launch_bounds__(256)
    measure(const float4* __restrict__ places, const int* __restrict__ corners,
            float* __restrict__ areas, int vertices, int facets) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= facets) return;
  const int first = corners[i], second = corners[facets + i], third = corners[2 * facets + i];
  const float4 p = corner(places, first, i, vertices);
  const float4 q = corner(places, second, i, vertices);
  const float4 r = corner(places, third, i, vertices);
  const float ux = q.x - p.x, uy = q.y - p.y, uz = q.z - p.z;
  const float vx = r.x - p.x, vy = r.y - p.y, vz = r.z - p.z;
  const float nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
  const float square = nx * nx + ny * ny + nz * nz;
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float area = 0.25f * square;
#else
  const float area = 0.5f * sqrtf(square);
#endif
#ifdef WITHOUT_DIVERGENCE
  areas[i] = nz < 0.0f ? 0.0f : area;
#else
  if (nz < 0.0f) {
    areas[i] = 0.0f;
  } else {
    areas[i] = area;
  }
#endif
}
extern "C" void solve(const float* places, const int* corners, float* areas, int vertices,
                      int facets) {
  measure<<<(facets + 255) / 256, 256>>>(reinterpret_cast<const float4*>(places), corners, areas,
                                         vertices, facets);
}
