// Kernels for the checks on a GPU: honest ones with known traffic, and broken ones. Every entry has
// the same signature: `n` floats in, `n` floats out, the first two also as rows of 4096.

#include <cuda_runtime.h>

namespace {

constexpr int kColumns = 4096;
constexpr int kThreads = 256;
constexpr int kVectors = kColumns / 4 / kThreads;  // float4 per thread

__global__ void copy_kernel(const float4* in, float4* out, long vectors) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < vectors) out[i] = in[i];
}

template <class Combine>
__device__ float across_block(float value, Combine combine) {
  __shared__ float partial[kThreads / 32];
  for (int offset = 16; offset; offset /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[0];
  for (int i = 1; i < kThreads / 32; ++i) value = combine(value, partial[i]);
  return value;
}

// One block per row of 4096; each element is read and written once.
__global__ void softmax_kernel(const float* in, float* out) {
  const auto* row = reinterpret_cast<const float4*>(in + blockIdx.x * static_cast<long>(kColumns));
  auto* result = reinterpret_cast<float4*>(out + blockIdx.x * static_cast<long>(kColumns));
  float4 v[kVectors];
  float largest = -INFINITY;
  for (int i = 0; i < kVectors; ++i) {
    v[i] = row[threadIdx.x + i * kThreads];
    largest = fmaxf(largest, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
  }
  largest = across_block(largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int i = 0; i < kVectors; ++i) {
    v[i] = {__expf(v[i].x - largest), __expf(v[i].y - largest), __expf(v[i].z - largest),
            __expf(v[i].w - largest)};
    sum += v[i].x + v[i].y + v[i].z + v[i].w;
  }
  sum = 1 / across_block(sum, [](float a, float b) { return a + b; });
  for (int i = 0; i < kVectors; ++i)
    result[threadIdx.x + i * kThreads] = {v[i].x * sum, v[i].y * sum, v[i].z * sum, v[i].w * sum};
}

__global__ void illegal_kernel(float* out) {
  out[(1L << 45) + threadIdx.x] = 1;
}

__global__ void trap_kernel() {
  asm volatile("trap;");
}

// Dependent multiply-adds, 4 cycles each: about 2 ns at 1980 MHz.
__global__ void chain_kernel(const float* in, float* out, int turns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = in[i];
  const float one = 1.0f, nothing = -0.0f;
  for (int turn = 0; turn < turns; ++turn)
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(value) : "f"(one), "f"(nothing));
  out[i] = value;
}

__global__ void signalling_kernel(volatile unsigned* flag) {
  *flag = 1;
}

__global__ void waiting_kernel(volatile unsigned* flag) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (*flag == 0 && now - start < 1'000'000'000ULL);
  if (*flag == 0) asm volatile("trap;");
  *flag = 0;
}

void launch_chain(const float* in, float* out, int turns, cudaStream_t stream) {
  chain_kernel<<<256, 256, 0, stream>>>(in, out, turns);
}

// Ends by itself after a minute, in case a check fails to kill it.
__global__ void endless_kernel() {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < 60'000'000'000ULL);
}

void launch_copy(const float* in, float* out, long n, cudaStream_t stream) {
  const long vectors = n / 4;
  copy_kernel<<<static_cast<unsigned>((vectors + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), vectors);
}

}  // namespace

extern "C" {

void copy(const float* in, float* out, long n, cudaStream_t stream) {
  launch_copy(in, out, n, stream);
}

void softmax(const float* in, float* out, long n, cudaStream_t stream) {
  softmax_kernel<<<static_cast<unsigned>(n / kColumns), kThreads, 0, stream>>>(in, out);
}

// The same on eight times the data.
void large_copy(const float* in, float* out, long n, cudaStream_t stream) {
  launch_copy(in, out, n, stream);
}

void small_copy(const float* in, float* out, long, cudaStream_t stream) {
  launch_copy(in, out, 1 << 18, stream);
}

// Named after their approximate duration.
void chain_3us(const float* in, float* out, long, cudaStream_t stream) {
  launch_chain(in, out, 700, stream);
}

void chain_5us(const float* in, float* out, long, cudaStream_t stream) {
  launch_chain(in, out, 1400, stream);
}

void chain_100us(const float* in, float* out, long, cudaStream_t stream) {
  launch_chain(in, out, 50'000, stream);
}

void chain_1ms(const float* in, float* out, long, cudaStream_t stream) {
  launch_chain(in, out, 500'000, stream);
}

void chain_10ms(const float* in, float* out, long, cudaStream_t stream) {
  launch_chain(in, out, 5'000'000, stream);
}

void two_kernels(const float* in, float* out, long n, cudaStream_t stream) {
  launch_copy(in, out, n, stream);
  softmax_kernel<<<static_cast<unsigned>(n / kColumns), kThreads, 0, stream>>>(in, out);
}

void synchronizing(const float* in, float* out, long n, cudaStream_t stream) {
  launch_copy(in, out, n, stream);
  cudaStreamSynchronize(stream);
}

// Work on a stream that the caller's stream does not wait for.
void hidden_stream(const float* in, float* out, long n, cudaStream_t) {
  static cudaStream_t other = nullptr;
  if (!other) cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  launch_copy(in, out, n, other);
}

// A different number of launches in every call.
void changing(const float* in, float* out, long n, cudaStream_t stream) {
  static int calls = 0;
  for (int i = 0; i < 1 + calls % 2; ++i) launch_copy(in, out, n, stream);
  ++calls;
}

void no_launch(const float*, float*, long, cudaStream_t) {}

void thousands(const float* in, float* out, long, cudaStream_t stream) {
  for (int i = 0; i < 2000; ++i) launch_chain(in, out, 1, stream);
}

// Captured in the first call; every later call uses the same buffers.
void graph(const float* in, float* out, long n, cudaStream_t stream) {
  static cudaGraphExec_t ready = nullptr;
  if (!ready) {
    cudaStream_t own = nullptr;
    cudaGraph_t captured = nullptr;
    cudaStreamCreate(&own);
    cudaStreamBeginCapture(own, cudaStreamCaptureModeThreadLocal);
    two_kernels(in, out, n, own);
    cudaStreamEndCapture(own, &captured);
    cudaGraphInstantiate(&ready, captured, 0);
    cudaStreamDestroy(own);
  }
  cudaGraphLaunch(ready, stream);
}

// Takes seconds from the tenth call on, to keep the counters in use once the earlier calls are
// done.
void holding(const float* in, float* out, long, cudaStream_t stream) {
  static int calls = 0;
  launch_chain(in, out, ++calls > 9 ? 750'000'000 : 1, stream);
}

// Two kernels on two streams, one of which waits for the other. Alone it traps after a second.
void waiting(const float* in, float* out, long n, cudaStream_t stream) {
  static cudaStream_t other = nullptr;
  static cudaEvent_t start = nullptr, done = nullptr;
  static unsigned* flag = nullptr;
  if (!other) {
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    cudaFuncAttributes loaded;  // loads the code first: loading may block while a kernel is running
    cudaFuncGetAttributes(&loaded, chain_kernel);
    cudaFuncGetAttributes(&loaded, signalling_kernel);
    cudaDeviceSynchronize();
  }
  cudaEventRecord(start, stream);
  cudaStreamWaitEvent(other, start);
  waiting_kernel<<<1, 1, 0, stream>>>(flag);
  launch_chain(in, out, 20'000, other);
  signalling_kernel<<<1, 1, 0, other>>>(flag);
  cudaEventRecord(done, other);
  cudaStreamWaitEvent(stream, done);
}

void illegal_address(const float*, float* out, long, cudaStream_t stream) {
  illegal_kernel<<<1, 32, 0, stream>>>(out);
}

void trap(const float*, float*, long, cudaStream_t stream) {
  trap_kernel<<<1, 1, 0, stream>>>();
}

void refused_launch(const float*, float* out, long, cudaStream_t stream) {
  illegal_kernel<<<1, 2048, 0, stream>>>(out);
}

void endless(const float*, float*, long, cudaStream_t stream) {
  endless_kernel<<<1, 1, 0, stream>>>();
}

}  // extern "C"
