// Calls whose time is known to be a sum: one kernel, many launches, and graphs, of the same chain
// of multiply-adds. instrument.py times them by the product's clock and by plain events.

#include <cuda_runtime.h>

#include <map>
#include <tuple>

namespace {

// About 1.4 µs for the first turn and 5.4 cycles for each on an H200.
__global__ void chain(const float* in, float* out, int turns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = in[i];
  const float one = 1.0f, nothing = -0.0f;
  for (int turn = 0; turn < turns; ++turn)
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(value) : "f"(one), "f"(nothing));
  out[i] = value;
}

__global__ void copy_all(const float4* in, float4* out, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = in[i];
}

constexpr int kBlocks = 256, kThreads = 256;

void launch(const float* in, float* out, int turns, cudaStream_t stream) {
  chain<<<kBlocks, kThreads, 0, stream>>>(in, out, turns);
}

void launches(int count, const float* in, float* out, cudaStream_t stream) {
  for (int i = 0; i < count; ++i) launch(in, out, 200, stream);
}

/// `count` nodes in `branches` chains; one graph for each shape and pair of buffers.
void graph(int count, int branches, const float* in, float* out, cudaStream_t stream) {
  static std::map<std::tuple<int, int, const float*>, cudaGraphExec_t> made;
  auto& instance = made[{count, branches, out}];
  if (!instance) {
    cudaGraph_t recorded;
    cudaGraphCreate(&recorded, 0);
    int turns = 200;
    for (int branch = 0; branch < branches; ++branch) {
      cudaGraphNode_t last{};
      for (int i = 0; i < count / branches; ++i) {
        const float* from = in + branch * kBlocks * kThreads;
        float* to = out + branch * kBlocks * kThreads;
        void* arguments[] = {&from, &to, &turns};
        cudaKernelNodeParams node{};
        node.func = reinterpret_cast<void*>(chain);
        node.gridDim = kBlocks;
        node.blockDim = kThreads;
        node.kernelParams = arguments;
        cudaGraphNode_t added;
        cudaGraphAddKernelNode(&added, recorded, i > 0 ? &last : nullptr, i > 0 ? 1 : 0, &node);
        last = added;
      }
    }
    cudaGraphInstantiate(&instance, recorded, 0);
    cudaGraphDestroy(recorded);
  }
  cudaGraphLaunch(instance, stream);
}

}  // namespace

extern "C" {

void one_2us(const float* in, float* out, long, cudaStream_t stream) {
  launch(in, out, 200, stream);
}
void one_5us(const float* in, float* out, long, cudaStream_t stream) {
  launch(in, out, 1400, stream);
}
void one_60us(const float* in, float* out, long, cudaStream_t stream) {
  launch(in, out, 20'000, stream);
}
void one_copy(const float* in, float* out, long n, cudaStream_t stream) {
  copy_all<<<(n / 4 + 255) / 256, 256, 0, stream>>>(reinterpret_cast<const float4*>(in),
                                                    reinterpret_cast<float4*>(out), n / 4);
}
void launches_8(const float* in, float* out, long, cudaStream_t stream) {
  launches(8, in, out, stream);
}
void launches_50(const float* in, float* out, long, cudaStream_t stream) {
  launches(50, in, out, stream);
}
void graph_50(const float* in, float* out, long, cudaStream_t stream) {
  graph(50, 1, in, out, stream);
}
void graph_48_in_4_branches(const float* in, float* out, long, cudaStream_t stream) {
  graph(48, 4, in, out, stream);
}

}  // extern "C"
