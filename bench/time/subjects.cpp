#include "bench/time/subjects.h"

#include <fmt/format.h>

#include <cmath>

namespace ratchet::bench {
namespace {

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
__global__ void softmax(const float* in, float* out, int rows) {{
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
  softmax<<<n + n * {1} / 10000, kThreads>>>(x, y, n);
}}
)";

// Multiplying by one and adding zero keep the value, so the number of turns is free. A turn
// takes 5.4 cycles on an H200, so 40 turns are 2 % of the kernel's 5.4 µs; turns left over from
// unrolling by four would take longer.
constexpr const char* kChain = R"(
__global__ void chain(const float* x, float* y, int n, int turns) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  const float one = 1.0f, nothing = -0.0f;
  for (int turn = 0; turn < turns; ++turn)
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(value) : "f"(one), "f"(nothing));
  y[i] = value;
}}
extern "C" void {0}(const float* x, float* y, int n) {{
  chain<<<(n + 255) / 256, 256>>>(x, y, n, 1400 + 20 * {1} / 100);
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

Source source(DeviceKind kind, const char* text, const char* entry, double percent) {
  const int parts = static_cast<int>(std::lround(percent * 100));
  return {kind == DeviceKind::host ? "kernel.cpp" : "kernel.cu",
          fmt::format(fmt::runtime(text), entry, parts), ""};
}

}  // namespace

Subject make_subject(DeviceKind kind, const std::string& name, double percent) {
  const bool host = kind == DeviceKind::host;
  const bool is_long = name == "long";
  const char* text = host ? kHostLoop : is_long ? kSoftmax : kChain;
  const std::int64_t n = host ? (is_long ? 1'000'000 : 50'000) : (is_long ? 7424 : 1 << 16);
  Contract contract;
  contract.kernel_name = name;
  contract.device_kind = kind;
  contract.implementation = host ? Implementation::host_cpp : Implementation::cuda_cpp;
  contract.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                         {"y", ParameterKind::tensor, DType::f32, false, {}},
                         {"n", ParameterKind::dim, DType::i32, false, {}}};
  const std::vector<std::string> shape = {!host && is_long ? "4096*n" : "n"};
  contract.tensors = {{"x", DType::f32, shape, Role::in, "normal"},
                      {"y", DType::f32, shape, Role::out, "normal"}};
  contract.cases = {{{{"n", n}}, 1, false}};
  contract.kernel = source(kind, text, "solve", 0);
  contract.reference = source(kind, text, "reference", 0);
  contract.reference_kind = host ? ReferenceKind::cpp : ReferenceKind::cuda;
  return {contract, source(kind, text, "solve", percent)};
}

}  // namespace ratchet::bench
