// Swings a swarm of damped pendulums through sixty-four time steps.
// dims: n=32768
// tensor: angle float64 n in
// tensor: state float64 n*2 out
// without LAUNCHES: one kernel does all the steps, with the state in registers
// without SPECIAL_FUNCTIONS, other answers: the force is linear in the angle
__device__ double2 swing(double2 s) {
#ifdef WITHOUT_SPECIAL_FUNCTIONS
  s.y = 0.995 * s.y - 0.05 * s.x;
#else
  s.y = 0.995 * s.y - 0.05 * sin(s.x);
#endif
  s.x += 0.05 * s.y;
  return s;
}
__global__ void swing_once(const double* angle, double2* state, int n, int step, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double2 s = step ? state[i] : make_double2(angle[i], 0.0);
#pragma unroll 1
  for (int k = 0; k < steps; ++k) s = swing(s);
  state[i] = s;
}
extern "C" void solve(const double* angle, double* state, int n) {
#ifdef WITHOUT_LAUNCHES
  const int steps = 64;
#else
  const int steps = 1;
#endif
  for (int step = 0; step < 64; step += steps)
    swing_once<<<(n + 255) / 256, 256>>>(angle, reinterpret_cast<double2*>(state), n, step, steps);
}
