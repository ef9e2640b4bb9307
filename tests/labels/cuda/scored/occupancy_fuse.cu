// Fuses a sensor's evidence into an occupancy grid: a weighted mean per cell; 0 is no evidence.
// dims: cells=33554432
// tensor: grid uint8 cells in
// tensor: evidence uint8 cells in
// tensor: fused uint8 cells out
// without NARROW_ACCESS: a thread loads and stores sixteen cells at once
// without INTEGER_DIVISION: divides by 255 with shifts and additions
// without DIVERGENCE: what a cell without evidence keeps is selected, not branched to
__device__ unsigned fuse(unsigned cell, unsigned seen) {
  const unsigned sum = 191 * cell + 64 * seen;
#ifdef WITHOUT_INTEGER_DIVISION
  const unsigned mean = (sum + 128 + ((sum + 128) >> 8)) >> 8;
#else
  const unsigned mean = (sum + 127) / 255;
#endif
#ifdef WITHOUT_DIVERGENCE
  const unsigned keeps = 0u - unsigned(seen == 0);
  return (cell & keeps) | (mean & ~keeps);
#else
  if (seen == 0) return cell;
  return mean;
#endif
}

__global__ void __launch_bounds__(256)
    fuse_cells(const unsigned char* __restrict__ grid, const unsigned char* __restrict__ evidence,
               unsigned char* __restrict__ fused, int cells) {
  const int t = blockIdx.x * 256 + threadIdx.x;
#ifdef WITHOUT_NARROW_ACCESS
  if (t >= cells / 16) return;
  const uint4 a = reinterpret_cast<const uint4*>(grid)[t];
  const uint4 b = reinterpret_cast<const uint4*>(evidence)[t];
  const unsigned in[4] = {a.x, a.y, a.z, a.w}, seen[4] = {b.x, b.y, b.z, b.w};
  unsigned out[4] = {};
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const int shift = k % 4 * 8;
    out[k / 4] |= fuse((in[k / 4] >> shift) & 255, (seen[k / 4] >> shift) & 255) << shift;
  }
  reinterpret_cast<uint4*>(fused)[t] = make_uint4(out[0], out[1], out[2], out[3]);
#else
  if (t >= cells) return;
  fused[t] = fuse(grid[t], evidence[t]);
#endif
}

// The number of cells is a multiple of 4096.
extern "C" void solve(const unsigned char* grid, const unsigned char* evidence,
                      unsigned char* fused, int cells) {
#ifdef WITHOUT_NARROW_ACCESS
  const int threads = cells / 16;
#else
  const int threads = cells;
#endif
  fuse_cells<<<(threads + 255) / 256, 256>>>(grid, evidence, fused, cells);
}
