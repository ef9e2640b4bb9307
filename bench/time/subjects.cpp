#include "bench/time/subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ratchet::bench {
namespace {

// In every text, {0} is the entry and {1} the additional work in parts of ten thousand.

// One block per row of 4096. Extra blocks repeat one of the rows.
constexpr const char* kSoftmax = R"(
constexpr int kThreads = 256, kVectors = 4096 / 4 / kThreads;
template <class Combine>
__device__ float across(float value, Combine combine) {{
  __shared__ float partial[kThreads / 32];
  for (int offset = 16; offset; offset /= 2)
    value = combine(value, __shfl_xor_sync(~0u, value, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[0];
  for (int i = 1; i < kThreads / 32; ++i) value = combine(value, partial[i]);
  return value;
}}
__global__ void work(const float* in, float* out, int rows) {{
  const long at = (blockIdx.x % rows) * 4096L;
  const auto* row = reinterpret_cast<const float4*>(in + at);
  auto* result = reinterpret_cast<float4*>(out + at);
  float4 v[kVectors];
  float largest = -INFINITY;
  for (int i = 0; i < kVectors; ++i) {{
    v[i] = row[threadIdx.x + i * kThreads];
    largest = fmaxf(largest, fmaxf(fmaxf(v[i].x, v[i].y), fmaxf(v[i].z, v[i].w)));
  }}
  largest = across(largest, [](float a, float b) {{ return fmaxf(a, b); }});
  float sum = 0;
  for (int i = 0; i < kVectors; ++i) {{
    v[i] = {{__expf(v[i].x - largest), __expf(v[i].y - largest), __expf(v[i].z - largest),
            __expf(v[i].w - largest)}};
    sum += v[i].x + v[i].y + v[i].z + v[i].w;
  }}
  sum = 1 / across(sum, [](float a, float b) {{ return a + b; }});
  for (int i = 0; i < kVectors; ++i)
    result[threadIdx.x + i * kThreads] = {{v[i].x * sum, v[i].y * sum, v[i].z * sum, v[i].w * sum}};
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  const int rows = n / 4096;
  work<<<rows + rows * {1} / 10000, kThreads>>>(x, y, rows);
}}
)";

// Multiplying by one and adding zero keep the value, so the number of turns is free. A turn
// takes 5.4 cycles on an H200, so 40 turns are 2 % of the kernel's 5.4 µs; turns left over from
// unrolling by four would take longer.
constexpr const char* kChain = R"(
__global__ void work(const float* x, float* y, int n, int turns) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  const float one = 1.0f, nothing = -0.0f;
  for (int turn = 0; turn < turns; ++turn)
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(value) : "f"(one), "f"(nothing));
  y[i] = value;
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  work<<<(n + 255) / 256, 256>>>(x, y, n, 1400 + 20 * {1} / 100);
}}
)";

constexpr const char* kStreaming = R"(
__global__ void work(const float4* x, float4* y, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = {{2 * x[i].x, 2 * x[i].y, 2 * x[i].z, 2 * x[i].w}};
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  work<<<(n / 4 + 255) / 256, 256>>>((const float4*)x, (float4*)y, n / 4);
}}
)";

// A tile of 64 × 64 in a block, 4 × 4 in a thread. n: a multiple of 64.
constexpr const char* kGemm = R"(
__global__ void work(const float* a, const float* b, float* c, int n) {{
  __shared__ float rows[16][65], columns[16][64];
  const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
  const int top = blockIdx.y * 64, left = blockIdx.x * 64;
  float sum[4][4] = {{}};
  for (int k = 0; k < n; k += 16) {{
    for (int i = threadIdx.x; i < 16 * 64; i += 256) {{
      rows[i % 16][i / 16] = a[(top + i / 16) * n + k + i % 16];
      columns[i / 64][i % 64] = b[(k + i / 64) * n + left + i % 64];
    }}
    __syncthreads();
    for (int l = 0; l < 16; ++l)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += rows[l][row + i] * columns[l][column + j];
    __syncthreads();
  }}
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(top + row + i) * n + left + column + j] = sum[i][j];
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  work<<<dim3(n / 64, n / 64), 256>>>(x, x + n * n, y, n);
}}
)";

constexpr const char* kHistogram = R"(
__global__ void clear(float* y) {{ y[threadIdx.x] = 0; }}
__global__ void work(const float* x, float* y, int n) {{
  __shared__ unsigned bins[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[min(max((int)((x[i] + 8) * 64), 0), 1023)], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += blockDim.x)
    if (bins[i]) atomicAdd(&y[i], (float)bins[i]);
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  clear<<<1, 1024>>>(y);
  work<<<264, 512>>>(x, y, n);
}}
)";

// n: a power of two, so that an odd factor reaches every element once.
constexpr const char* kGather = R"(
__global__ void work(const float* x, float* y, unsigned n) {{
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i * 2654435761u % n];
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  work<<<(n + 255) / 256, 256>>>(x, y, n);
}}
)";

constexpr const char* kBranches = R"(
__global__ void work(const float* x, float* y, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  float sum = 0;
  for (float left = fabsf(value); left > 0.05f; left -= 0.05f)
    if (value > 0)
      sum += left;
    else
      sum = 0.5f * sum - left;
  y[i] = sum;
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  work<<<(n + 255) / 256, 256>>>(x, y, n);
}}
)";

constexpr const char* kHostLoop = R"(
extern "C" void {0}(const float* x, float* y, int n) {{
  volatile float* out = y;
  for (int pass = 0; pass < 100; ++pass)
    for (int i = pass; i < n; i += 100) out[i] = 2 * x[i];
  const int more = n / 10000 * {1};
  for (int i = 0; i < more; ++i) out[i % n] = 2 * x[i % n];
}}
)";

constexpr const char* kHostStreaming = R"(
extern "C" void {0}(const float* x, float* y, int n) {{
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}}
)";

constexpr const char* kHostGemm = R"(
extern "C" void {0}(const float* x, float* y, int n) {{
  const float* other = x + n * n;
  for (int i = 0; i < n * n; ++i) y[i] = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < n; ++l) y[i * n + l] += x[i * n + j] * other[j * n + l];
}}
)";

constexpr const char* kHostHistogram = R"(
extern "C" void {0}(const float* x, float* y, int n) {{
  for (int i = 0; i < 1024; ++i) y[i] = 0;
  for (int i = 0; i < n; ++i) {{
    const int bin = (int)((x[i] + 8) * 64);
    y[bin < 0 ? 0 : bin > 1023 ? 1023 : bin] += 1;
  }}
}}
)";

constexpr const char* kHostGather = R"(
extern "C" void {0}(const float* x, float* y, int n) {{
  for (long i = 0; i < n; ++i) y[i] = x[i * 7919 % n];
}}
)";

constexpr const char* kHostBranches = R"(
extern "C" void {0}(const float* x, float* y, int n) {{
  for (int i = 0; i < n; ++i) {{
    volatile float v = x[i];
    for (float m = v < 0 ? -v : v; m > 0.25f; m -= 0.25f) v = v;
    y[i] = v;
  }}
}}
)";

struct Kind {
  const char* name;
  const char *input, *output;  ///< shapes
  const char* cuda;
  std::int64_t cuda_n;
  const char* host;
  std::int64_t host_n;
};

// The matrices are 30 MB on GPUs, so they fit in the L2 cache.
constexpr Kind kKinds[] = {
    {"long", "n", "n", kSoftmax, 7424 * 4096, kHostLoop, 1'000'000},
    {"short", "n", "n", kChain, 1 << 16, kHostLoop, 50'000},
    {"streaming", "n", "n", kStreaming, 1 << 24, kHostStreaming, 2'000'000},
    {"gemm", "2*n*n", "n*n", kGemm, 1600, kHostGemm, 160},
    {"histogram", "n", "1024", kHistogram, 1 << 24, kHostHistogram, 200'000},
    {"gather", "n", "n", kGather, 1 << 24, kHostGather, 300'000},
    {"tick", "n", "n", kChain, 1 << 16, kHostStreaming, 16'000},
    {"branches", "n", "n", kBranches, 1 << 22, kHostBranches, 50'000},
};

/// `name`: of the device function, or just a difference in the text.
Source source(DeviceKind kind, const char* text, const char* entry, const char* name,
              double percent) {
  const int parts = static_cast<int>(std::lround(percent * 100));
  return {kind == DeviceKind::host ? "kernel.cpp" : "kernel.cu",
          fmt::format("#define work {}\n", name) + fmt::format(fmt::runtime(text), entry, parts),
          ""};
}

}  // namespace

std::vector<std::string> subject_names() {
  std::vector<std::string> names;
  for (const auto& one : kKinds) names.emplace_back(one.name);
  return names;
}

Subject make_subject(const DeviceInfo& device, const std::string& name, double percent) {
  const auto* const found = std::ranges::find(kKinds, name, &Kind::name);
  const bool host = device.kind == DeviceKind::host;
  const char* const text = host ? found->host : found->cuda;
  Contract contract;
  contract.kernel_name = name;
  contract.device_kind = device.kind;
  contract.arch = host ? "native" : device.arch;
  contract.implementation = host ? Implementation::host_cpp : Implementation::cuda_cpp;
  contract.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                         {"y", ParameterKind::tensor, DType::f32, false, {}},
                         {"n", ParameterKind::dim, DType::i32, false, {}}};
  contract.tensors = {{"x", DType::f32, {found->input}, Role::in, "normal"},
                      {"y", DType::f32, {found->output}, Role::out, "normal"}};
  contract.cases = {{{{"n", host ? found->host_n : found->cuda_n}}, 1, false}};
  contract.kernel = source(device.kind, text, "solve", "work", 0);
  contract.reference = source(device.kind, text, "reference", "work", 0);
  contract.reference_kind = host ? ReferenceKind::cpp : ReferenceKind::cuda;
  return {contract, source(device.kind, text, "solve", "other_work", percent)};
}

}  // namespace ratchet::bench
