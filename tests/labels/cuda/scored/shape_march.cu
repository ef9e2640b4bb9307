// Marches rays through space, each until it meets its own kind of shape, by signed distances.
// dims: rays=524288
// tensor: x float32 2,rays in
// tensor: y float32 rays out
// without DIVERGENCE, other answers: the rays of a warp march to shapes of the same kind
// without NARROW_ACCESS, other answers: one load of eight bytes for the two numbers of a ray
__device__ float torus(float x, float y, float z) {
  const float ring = sqrtf(x * x + z * z) - 1.0f;
  return sqrtf(ring * ring + y * y) - 0.25f;
}

__device__ float twisted_box(float x, float y, float z) {
  float sine, cosine;
  __sincosf(2 * y, &sine, &cosine);
  const float u = cosine * x - sine * z, v = sine * x + cosine * z;
  const float a = fabsf(u) - 0.6f, b = fabsf(y) - 0.5f, c = fabsf(v) - 0.4f;
  const float p = fmaxf(a, 0), q = fmaxf(b, 0), r = fmaxf(c, 0);
  return 0.5f * (sqrtf(p * p + q * q + r * r) + fminf(fmaxf(a, fmaxf(b, c)), 0));
}

__device__ float gyroid(float x, float y, float z) {
  const float wave =
      __sinf(4 * x) * __cosf(4 * y) + __sinf(4 * y) * __cosf(4 * z) + __sinf(4 * z) * __cosf(4 * x);
  const float ball = sqrtf(x * x + y * y + z * z) - 1.0f;
  return fmaxf(0.2f * fabsf(wave) - 0.02f, ball);
}

__device__ float folded_tetrahedron(float x, float y, float z) {
  float scale = 1;
#pragma unroll
  for (int fold = 0; fold < 5; ++fold) {
    const float a = fmaxf(x, -y), b = fmaxf(y, -x);
    const float c = fmaxf(a, -z), d = fmaxf(z, -a);
    const float e = fmaxf(b, -d), f = fmaxf(d, -b);
    x = 2 * c - 1;
    y = 2 * e - 1;
    z = 2 * f - 1;
    scale *= 0.5f;
  }
  return 0.5f * scale * (sqrtf(x * x + y * y + z * z) - 1.5f);
}

__device__ float capsules(float x, float y, float z) {
  float nearest = 1e9f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float px = x - 0.2f * k + 0.3f, pz = z + 0.1f * k;
    const float along = __saturatef(0.5f * (px + y + pz)) * 0.6f;
    const float a = px - along, b = y - along, c = pz - along;
    nearest = fminf(nearest, sqrtf(a * a + b * b + c * c) - 0.1f);
  }
  return nearest;
}

__global__ void __launch_bounds__(256)
    march(const float* __restrict__ x, float* __restrict__ y, int rays) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= rays) return;
#ifdef WITHOUT_NARROW_ACCESS
  const float2 both = reinterpret_cast<const float2*>(x)[i];
  const float px = 0.3f * both.x, py = 0.3f * both.y;
#else
  const float px = 0.3f * x[i], py = 0.3f * x[rays + i];
#endif
#ifdef WITHOUT_DIVERGENCE
  const unsigned kind = (unsigned(i / 32) * 2654435761u >> 16) % 5;
#else
  const unsigned kind = (unsigned(i) * 2654435761u >> 16) % 5;
#endif
  float depth = 0;
#pragma unroll 1
  for (int step = 0; step < 32; ++step) {
    const float z = depth - 2;
    float distance;
    switch (kind) {
      case 0:
        distance = torus(px, py, z);
        break;
      case 1:
        distance = twisted_box(px, py, z);
        break;
      case 2:
        distance = gyroid(px, py, z);
        break;
      case 3:
        distance = folded_tetrahedron(px, py, z);
        break;
      default:
        distance = capsules(px, py, z);
    }
    depth += 0.7f * fabsf(distance);
  }
  y[i] = fminf(depth, 10.0f);
}

extern "C" void solve(const float* x, float* y, int rays) {
  march<<<(rays + 255) / 256, 256>>>(x, y, rays);
}
