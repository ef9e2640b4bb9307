// One step of a lattice Boltzmann fluid (D2Q9): nine populations stream in from the neighbors of a
// cell, relax towards equilibrium, and are written to nine planes.
// dims: height=1024 width=2048
// tensor: f float32 9,height,width in
// tensor: g float32 9,height,width out
// floor BYTES, other answers: the nine planes are read and written without the collision
// without INTEGER_DIVISION: the row and column come from a two-dimensional grid
// without SPECIAL_FUNCTIONS, other answers: does not divide by the density
__global__ void __launch_bounds__(256)
    stream_and_collide(const float* __restrict__ f, float* __restrict__ g, int height, int width) {
#ifdef WITHOUT_INTEGER_DIVISION
  const int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
  if (x >= width || y >= height) return;
#else
  const int cell = blockIdx.x * 256 + threadIdx.x;
  if (cell >= height * width) return;
  const int x = cell % width, y = cell / width;
#endif
  const int cells = height * width;
  const int west = x == 0 ? width - 1 : x - 1, east = x == width - 1 ? 0 : x + 1;
  const int north = (y == 0 ? height - 1 : y - 1) * width;
  const int south = (y == height - 1 ? 0 : y + 1) * width, here = y * width;
  float p[9];
  p[0] = f[here + x];
  p[1] = f[1 * cells + here + west];
  p[2] = f[2 * cells + north + x];
  p[3] = f[3 * cells + here + east];
  p[4] = f[4 * cells + south + x];
  p[5] = f[5 * cells + north + west];
  p[6] = f[6 * cells + north + east];
  p[7] = f[7 * cells + south + east];
  p[8] = f[8 * cells + south + west];
#ifndef WITHOUT_BYTES
  const float cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  const float cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float w[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                      1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
  float density = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    p[k] = fabsf(p[k]) + 0.1f;
    density += p[k];
    ux += cx[k] * p[k];
    uy += cy[k] * p[k];
  }
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float share = 0.1f - 0.001f * density;
#else
  const float share = __fdividef(1.0f, density);
#endif
  ux *= share;
  uy *= share;
  const float square = 1.0f - 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float along = 3.0f * (cx[k] * ux + cy[k] * uy);
    const float rest = w[k] * density * (square + along + 0.5f * along * along);
    p[k] += 0.6f * (rest - p[k]);
  }
#endif
#pragma unroll
  for (int k = 0; k < 9; ++k) g[k * cells + here + x] = p[k];
}
extern "C" void solve(const float* f, float* g, int height, int width) {
#ifdef WITHOUT_INTEGER_DIVISION
  stream_and_collide<<<dim3((width + 255) / 256, height), 256>>>(f, g, height, width);
#else
  stream_and_collide<<<(height * width + 255) / 256, 256>>>(f, g, height, width);
#endif
}
