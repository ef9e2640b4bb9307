// Twenty kernels, each with one known bottleneck that the diagnosis must find. Entries as in
// kernels.cu: `n` floats in, `n` floats out. labels.json holds the expected labels.

#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kSms = 132;  // of the chip that the labels were made for; others only lose precision
constexpr int kLane = 32;

__device__ float chain(float x, int length) {
  for (int i = 0; i < length; ++i) x = fmaf(x, 0.999f, 0.001f);
  return x;
}

/// Eight independent chains of `steps` FMAs each.
__device__ float fma_work(float seed, int steps) {
  float v[8];
  for (int c = 0; c < 8; ++c) v[c] = seed + static_cast<float>(c);
#pragma unroll 4
  for (int i = 0; i < steps; ++i)
    for (int c = 0; c < 8; ++c) v[c] = fmaf(v[c], 0.999f, 0.001f);
  return v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
}

__device__ long thread_index() {
  return blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
}

// Only memory traffic: one read, one write.
__global__ void memory_kernel(const float4* in, float4* out, long vectors) {
  const long i = thread_index();
  if (i >= vectors) return;
  const float4 v = in[i];
  out[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}

// 8 MiB read many times, bypassing L1: served by L2.
__global__ void l2_kernel(const float4* in, float* out, int rounds) {
  constexpr long kWindow = (8L << 20) / 16;
  float sum = 0;
  long at = thread_index();
#pragma unroll 8
  for (int r = 0; r < rounds; ++r) {
    const float4 v = __ldcg(in + (at + r * 7919L * 32) % kWindow);
    sum += v.x + v.y + v.z + v.w;
  }
  out[thread_index()] = sum;
}

__global__ void fma_kernel(const float* in, float* out) {
  out[thread_index()] = fma_work(in[thread_index()], 2048);
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
/// Half the addresses of a matrix descriptor without swizzle; the data does not matter.
__device__ std::uint64_t descriptor(const void* shared) {
  const auto at = static_cast<std::uint64_t>(__cvta_generic_to_shared(shared));
  return ((at & 0x3ffff) >> 4) | (std::uint64_t{8} << 16) | (std::uint64_t{64} << 32);
}
#endif

// Only matrix products, with operands in shared memory.
__global__ void __launch_bounds__(256) tensor_kernel(float* out, int steps) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ alignas(1024) unsigned short tiles[2 * 8192];
  for (int i = threadIdx.x; i < 2 * 8192; i += blockDim.x) tiles[i] = 0;
  __syncthreads();
  float d[32] = {};
  const auto a = descriptor(tiles), b = descriptor(tiles + 8192);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (int i = 0; i < steps; ++i) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int j = 0; j < 4; ++j)
      asm volatile(
          "{wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,"
          "%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
          "%32, %33, 1, 1, 1, 0, 0;}"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
            "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
            "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]),
            "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
            "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
          : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += d[i];
  out[thread_index()] = sum;
#endif
}

/// The next address depends on the value read: one load in flight per warp.
__device__ float chase(const float* in, long n, long start, int steps) {
  unsigned at = static_cast<unsigned>(start);
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    at = at * 1664525U + 1013904223U;
    const float v = in[at % static_cast<unsigned>(n)];
    sum += v;
    at += __float_as_uint(v) & 1U;
  }
  return sum;
}

// All lanes of a warp follow one chain: little traffic, pure latency.
__global__ void __launch_bounds__(1024) latency_kernel(const float* in, float* out, long n) {
  const long i = thread_index();
  out[i] = chase(in, n, i / kLane * 7, 256);
}

// 192 live accumulators: two blocks of 128 threads fit on a multiprocessor.
__global__ void __launch_bounds__(128) registers_kernel(const float* in, float* out, long n) {
  constexpr int kLive = 192;
  float v[kLive];
  const long i = thread_index();
#pragma unroll
  for (int c = 0; c < kLive; ++c) v[c] = static_cast<float>(c);
  unsigned at = static_cast<unsigned>(i / kLane);
  for (int step = 0; step < 24; ++step) {
#pragma unroll
    for (int c = 0; c < kLive; c += 12) {
      at = at * 1664525U + 1013904223U;
      const float x = in[(at / kLane * kLane + threadIdx.x % kLane) % static_cast<unsigned>(n)];
      at += __shfl_sync(~0U, __float_as_uint(x), 0) & 1U;
#pragma unroll
      for (int k = 0; k < 12; ++k) v[c + k] = fmaf(v[c + k], 0.99f, x);
    }
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kLive; ++c) sum += v[c];
  out[i] = sum;
}

// 100 KiB of shared memory per block: two blocks of 128 threads fit.
__global__ void __launch_bounds__(128) shared_kernel(const float* in, float* out, long n) {
  extern __shared__ float room[];
  const long i = thread_index();
  room[threadIdx.x * 8] = static_cast<float>(i);
  __syncthreads();
  out[i] = chase(in, n, i / kLane * 7, 256) + room[(threadIdx.x ^ 1) * 8];
}

// One warp works while the others wait for it.
__global__ void __launch_bounds__(1024) barrier_kernel(const float* in, float* out) {
  const long i = thread_index();
  float x = in[i];
  for (int step = 0; step < 64; ++step) {
    if (threadIdx.x / kLane == static_cast<unsigned>(step) % 32) x = chain(x, 256);
    __syncthreads();
  }
  out[i] = x;
}

// All lanes of a warp access the same bank.
__global__ void __launch_bounds__(256) bank_kernel(const float* in, float* out) {
  __shared__ float tile[8][32 * 33];
  const long i = thread_index();
  const int lane = threadIdx.x % kLane, warp = threadIdx.x / kLane;
  float* mine = tile[warp];
  for (int c = 0; c < 33; ++c) mine[c * 32 + lane] = in[i] + static_cast<float>(c);
  __syncwarp();
  float sum = 0;
  int at = lane * 32;
  for (int step = 0; step < 512; ++step) {
    sum += mine[(at + step % 32) % (32 * 32)];
    mine[(at + (step + 5) % 32) % (32 * 32)] = sum;
  }
  out[i] = sum;
}

// Each lane reads four bytes of a different sector.
__global__ void uncoalesced_kernel(const float* in, float* out, long n) {
  const long i = thread_index();
  const long rows = n / 1024;
  out[i] = in[i % rows * 1024 + i / rows];
}

// The lanes of a warp do 0 to 31 units of work.
__global__ void divergence_kernel(const float* in, float* out) {
  const long i = thread_index();
  out[i] = chain(in[i], static_cast<int>(i % kLane) * 64);
}

// 96 live values in 32 registers.
__global__ void __launch_bounds__(1024, 2) spills_kernel(const float* in, float* out, long n) {
  constexpr int kLive = 96;
  float v[kLive];
  const long i = thread_index();
#pragma unroll
  for (int c = 0; c < kLive; ++c) v[c] = in[(i + c * 1031L) % n];
  for (int step = 0; step < 16; ++step) {
#pragma unroll
    for (int c = 0; c < kLive; ++c) v[c] = fmaf(v[c], v[(c + 17) % kLive], 0.5f);
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kLive; ++c) sum += v[c];
  out[i] = sum;
}

// 150 KiB of shared memory: one block per multiprocessor, plus a few blocks.
__global__ void __launch_bounds__(1024) tail_kernel(const float* in, float* out) {
  extern __shared__ float room[];
  room[threadIdx.x] = in[thread_index()];
  __syncthreads();
  out[thread_index()] = fma_work(room[threadIdx.x ^ 1], 2048);
}

__global__ void tiny_kernel(const float* in, float* out) {
  out[thread_index()] = 2 * in[thread_index()];
}

__global__ void atomics_kernel(const float* in, float* out, long n) {
  for (long i = thread_index(); i < n; i += gridDim.x * static_cast<long>(blockDim.x)) {
    const auto bits = __float_as_uint(in[i]);
    atomicAdd(out + (bits * 2654435761U >> 28), 1.0f);
  }
}

__global__ void fp64_kernel(const float* in, float* out) {
  double v[4];
  for (int c = 0; c < 4; ++c) v[c] = in[thread_index()] + c;
#pragma unroll 4
  for (int i = 0; i < 1024; ++i)
    for (int c = 0; c < 4; ++c) v[c] = v[c] * 0.999 + 0.001;
  out[thread_index()] = static_cast<float>(v[0] + v[1] + v[2] + v[3]);
}

/// 2,048 consecutive FMAs with different factors, so that the compiler makes no loop.
template <int kPart>
__device__ __noinline__ float long_body(float x) {
  float v[4] = {x, x + 1, x + 2, x + 3};
#pragma unroll
  for (int i = 0; i < 2048; ++i)
    v[i % 4] = fmaf(v[i % 4], 0.5f + static_cast<float>(i * 8 + kPart) * 1e-6f, 0.25f);
  return v[0] + v[1] + v[2] + v[3];
}

// Warps execute eight different parts of 256 KiB of code.
__global__ void __launch_bounds__(256) instructions_kernel(const float* in, float* out) {
  float x = in[thread_index()];
  for (unsigned step = 0; step < 24; ++step) {
    switch ((step * 3 + threadIdx.x / kLane) % 8) {
      case 0:
        x = long_body<0>(x);
        break;
      case 1:
        x = long_body<1>(x);
        break;
      case 2:
        x = long_body<2>(x);
        break;
      case 3:
        x = long_body<3>(x);
        break;
      case 4:
        x = long_body<4>(x);
        break;
      case 5:
        x = long_body<5>(x);
        break;
      case 6:
        x = long_body<6>(x);
        break;
      default:
        x = long_body<7>(x);
    }
  }
  out[thread_index()] = x;
}

// Bulk copies of 64 bytes, each waited for before the next batch.
__global__ void __launch_bounds__(128) bulk_kernel(const float* in, float* out, long n) {
#if __CUDA_ARCH__ >= 900
  constexpr int kCopies = 64, kBytes = 64;
  __shared__ alignas(128) float tile[kCopies * kBytes / 4];
  __shared__ alignas(8) std::uint64_t full;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0)
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(
            barrier)
        : "memory");
  __syncthreads();
  float sum = 0;
  for (unsigned round = 0; round < 64; ++round) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                   "r"(kCopies * kBytes)
                   : "memory");
      for (int c = 0; c < kCopies; ++c) {
        const long at = ((blockIdx.x * 64L + round) * kCopies + c) * (kBytes / 4) % n;
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(target + c * kBytes),
            "l"(in + at), "r"(kBytes), "r"(barrier)
            : "memory");
      }
    }
    unsigned done = 0;
    while (!done)
      asm volatile(
          "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
          "p;}"
          : "=r"(done)
          : "r"(barrier), "r"(round & 1)
          : "memory");
    sum += tile[threadIdx.x * 8 % (kCopies * kBytes / 4)];
    __syncthreads();
  }
  out[thread_index()] = sum;
#endif
}

// FMAs and memory traffic that take equally long.
__global__ void mixed_kernel(const float4* in, float4* out, long vectors) {
  const long i = thread_index();
  if (i >= vectors) return;
  float4 v = in[i];
#pragma unroll
  for (int k = 0; k < 44; ++k) {
    v.x = fmaf(v.x, 0.999f, 0.001f);
    v.y = fmaf(v.y, 0.999f, 0.001f);
    v.z = fmaf(v.z, 0.999f, 0.001f);
    v.w = fmaf(v.w, 0.999f, 0.001f);
  }
  out[i] = v;
}

int blocks(long threads, int block) {
  return static_cast<int>((threads + block - 1) / block);
}

template <class Kernel>
void allow_shared(Kernel kernel, int bytes) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

}  // namespace

#define ENTRY(name) extern "C" void name(const float* in, float* out, long n, cudaStream_t stream)

ENTRY(large_memory) {
  memory_kernel<<<blocks(n / 4, 256), 256, 0, stream>>>(reinterpret_cast<const float4*>(in),
                                                        reinterpret_cast<float4*>(out), n / 4);
}
ENTRY(l2) {
  l2_kernel<<<kSms * 8, 256, 0, stream>>>(reinterpret_cast<const float4*>(in), out, 256);
}
ENTRY(compute_fma) {
  fma_kernel<<<kSms * 64, 256, 0, stream>>>(in, out);
}
ENTRY(tensor) {
  tensor_kernel<<<kSms * 8, 256, 0, stream>>>(out, 512);
}
ENTRY(latency) {
  latency_kernel<<<kSms * 4, 1024, 0, stream>>>(in, out, n);
}
ENTRY(occupancy_registers) {
  registers_kernel<<<kSms * 8, 128, 0, stream>>>(in, out, n);
}
ENTRY(occupancy_shared) {
  constexpr int kBytes = 100 << 10;
  allow_shared(shared_kernel, kBytes);
  shared_kernel<<<kSms * 8, 128, kBytes, stream>>>(in, out, n);
}
ENTRY(barrier) {
  barrier_kernel<<<kSms * 8, 1024, 0, stream>>>(in, out);
}
ENTRY(bank_conflicts) {
  bank_kernel<<<kSms * 32, 256, 0, stream>>>(in, out);
}
ENTRY(uncoalesced) {
  uncoalesced_kernel<<<blocks(n, 256), 256, 0, stream>>>(in, out, n);
}
ENTRY(divergence) {
  divergence_kernel<<<kSms * 64, 256, 0, stream>>>(in, out);
}
ENTRY(spills) {
  spills_kernel<<<kSms * 16, 1024, 0, stream>>>(in, out, n);
}
ENTRY(tail) {
  constexpr int kBytes = 150 << 10;
  allow_shared(tail_kernel, kBytes);
  tail_kernel<<<kSms + 12, 1024, kBytes, stream>>>(in, out);
}
ENTRY(small_grid) {
  fma_kernel<<<8, 256, 0, stream>>>(in, out);
}
ENTRY(launch_bound) {
  tiny_kernel<<<4, 256, 0, stream>>>(in, out);
}
ENTRY(atomics) {
  atomics_kernel<<<kSms * 8, 256, 0, stream>>>(in, out, n / 4);
}
ENTRY(fp64) {
  fp64_kernel<<<kSms * 32, 256, 0, stream>>>(in, out);
}
ENTRY(instruction_cache) {
  instructions_kernel<<<kSms * 8, 256, 0, stream>>>(in, out);
}
ENTRY(tma_bound) {
  bulk_kernel<<<kSms * 8, 128, 0, stream>>>(in, out, n);
}
ENTRY(large_mixed) {
  mixed_kernel<<<blocks(n / 4, 256), 256, 0, stream>>>(reinterpret_cast<const float4*>(in),
                                                       reinterpret_cast<float4*>(out), n / 4);
}
