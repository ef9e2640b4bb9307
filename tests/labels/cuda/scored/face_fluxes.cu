// Finite volumes on an unstructured mesh: the flux through each face from the states (depth, two
// momenta, bottom) of the two cells beside it, which lie anywhere.
// dims: faces=4194304
// tensor: left int32 faces in permutation
// tensor: right int32 faces in permutation
// tensor: state float32 faces,4 in
// tensor: flux float32 faces,2 out
// without RANDOM_ACCESS, other answers: a face lies between the cells of its own number and the next
// without SPECIAL_FUNCTIONS, other answers: no roots and no divisions
// without ARITHMETIC, other answers: the mean of the states is the flux
__global__ void __launch_bounds__(256)
    fluxes(const int* __restrict__ left, const int* __restrict__ right,
           const float4* __restrict__ state, float2* __restrict__ flux, int faces) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= faces) return;
  int l = left[i], r = right[faces - 1 - i];
#ifdef WITHOUT_RANDOM_ACCESS
  l = l < 0 ? 0 : i;
  r = r < 0 ? 0 : i + 1 < faces ? i + 1 : 0;
#endif
  const float4 a = state[l], b = state[r];
#ifdef WITHOUT_ARITHMETIC
  flux[i] = {0.5f * (a.x + b.x) + a.w + b.w, 0.5f * (a.y + b.y) + a.z + b.z};
#else
  const float ha = 0.5f + fabsf(a.x), hb = 0.5f + fabsf(b.x);
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  const float ua = a.y * (1.0f - 0.2f * ha), ub = b.y * (1.0f - 0.2f * hb);
  const float speed = fmaxf(fabsf(ua) + 3.1f * ha, fabsf(ub) + 3.1f * hb);
#else
  const float ua = __fdividef(a.y, ha), ub = __fdividef(b.y, hb);
  const float speed = fmaxf(fabsf(ua) + sqrtf(9.81f * ha), fabsf(ub) + sqrtf(9.81f * hb));
#endif
  const float pa = ua * a.y + 4.905f * ha * ha, pb = ub * b.y + 4.905f * hb * hb;
  float2 through;
  through.x = 0.5f * (a.y + b.y) - 0.5f * speed * (hb - ha + b.w - a.w);
  through.y = 0.5f * (pa + pb) - 0.5f * speed * (b.y - a.y) + 0.01f * (ua * a.z + ub * b.z);
  flux[i] = through;
#endif
}
extern "C" void solve(const int* left, const int* right, const float* state, float* flux,
                      int faces) {
  fluxes<<<(faces + 255) / 256, 256>>>(left, right, (const float4*)state, (float2*)flux, faces);
}
