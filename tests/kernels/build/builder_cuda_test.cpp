#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/build/builder_bench.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

BuildRequest cuda(std::string text) {
  if (!toolchain().nvcc) SKIP("nvcc was not found");
  return request_of(Language::cuda, "kernel.cu", std::move(text), "sm_90a");
}

}  // namespace

TEST_CASE("a CUDA kernel builds for the exact architecture and reports its resources",
          "[builder][cuda]") {
  const Bench bench;
  const auto record = bench.build(cuda(R"(
__global__ void f(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  asm volatile("wgmma.fence.sync.aligned;");
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
void solve(const float* x, float* y, cudaStream_t stream) { f<<<1, 64, 0, stream>>>(x, y); })"));

  INFO((record.errors.empty() ? "" : record.errors[0].message));
  REQUIRE(record.ok);
  CHECK(record.registers.value_or(0) > 0);
  CHECK(record.shared_bytes == 256);
  CHECK(record.spill_bytes == 0);
  CHECK(record.command.find("arch=compute_90a,code=sm_90a") != std::string::npos);
}

TEST_CASE("a device-only kernel becomes a library that launches it", "[builder][cuda]") {
  const Bench bench;
  auto request = cuda(
      "// launch: grid = ceil_div(n, tile), max(1, 2); block = 64; shared = 64 * 4\n"
      "__global__ void scale(const float* x, float* y, int n) {\n"
      "  __shared__ float s[64]; s[threadIdx.x] = x[n - 1]; __syncthreads(); y[0] = s[3]; }\n");
  request.entry = "scale";
  request.launch = Launch{{"1"}, {"32"}, "0"};
  request.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                        {"y", ParameterKind::tensor, DType::f32, false, {}},
                        {"n", ParameterKind::dim, DType::i32, false, {}},
                        {"tile", ParameterKind::dim, DType::i64, false, {}}};
  request.cases = {{{"n", 1000}, {"tile", 64}}};
  const auto record = bench.build(request);

  INFO((record.errors.empty() ? "" : record.errors[0].message));
  REQUIRE(record.ok);
  CHECK(exports(bench.library(record), "scale"));
  CHECK(record.shared_bytes == 256);
  CHECK(record.registers.value_or(0) > 0);
  request.cases[0]["tile"] = 2000;  // then the grid is one block, and still possible
  CHECK(bench.build(request).ok);
  request.source.text.replace(request.source.text.find("block = 64"), 10, "block = 4096");
  CHECK(bench.build(request).error_class == "launch");
}

TEST_CASE("errors of a device-only kernel name its own lines", "[builder][cuda]") {
  const Bench bench;
  auto request = cuda("#include \"none.h\"\n__global__ void f(float* y) {}\n");
  request.entry = "f";
  request.launch = Launch{{"1"}, {"32"}, "0"};
  CHECK(bench.build(request).error_class == "missing_header");
  request.source.text = "__global__ void f(float* y) {\n  y[0] = nothing;\n}\n";
  const auto record = bench.build(request);
  REQUIRE(record.errors.size() == 1);
  CHECK(record.errors[0].line == 2);
}

TEST_CASE("kernels may launch kernels", "[builder][cuda]") {
  const Bench bench;
  const auto record = bench.build(cuda(R"(
__global__ void child(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void parent(const float* x, float* y) { child<<<1, 64>>>(x, y); }
extern "C" void solve(const float* x, float* y) { parent<<<1, 1>>>(x, y); })"));

  INFO((record.errors.empty() ? record.command : record.errors[0].message));
  REQUIRE(record.ok);
  CHECK(record.registers.value_or(0) > 0);
}

TEST_CASE("nvcc's failures are classified", "[builder][cuda][slow]") {
  const Bench bench;
  const auto hidden = bench.build(
      cuda("#define START <<<1, 1>>>()\n__global__ void f() {}\n__global__ void g() { f START; }\n"
           "extern \"C\" void solve(float* y) { g<<<1, 1>>>(); }"));
  CHECK(hidden.error_class == "device_launch");
  auto wrong_arch = cuda(
      "__global__ void f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n"
      "extern \"C\" void solve(float* y) { f<<<1, 1>>>(); }");
  wrong_arch.arch = "sm_80";
  CHECK(bench.build(wrong_arch).error_class == "wrong_arch");
  wrong_arch.arch = "sm_90";  // corrected: the source needs sm_90a
  CHECK(bench.build(wrong_arch).ok);
  auto shared = cuda(
      "__global__ void f(float* y) { __shared__ float s[20000]; s[threadIdx.x] = y[0]; "
      "__syncthreads(); y[1] = s[3]; }\n"
      "extern \"C\" void solve(float* y) { f<<<1, 1>>>(y); }");
  shared.arch = "sm_90";  // ptxas allows the `a` variants more than 48 KB
  CHECK(bench.build(shared).error_class == "too_much_shared");
  const auto thread =
      bench.build(cuda("#include <unistd.h>\nextern \"C\" void solve(float* y) { fork(); }"));
  CHECK(thread.error_class == "forbidden_symbol");
}

TEST_CASE("the judge of a device builds from the files beside it", "[builder][cuda][slow]") {
  const Bench bench;
  const auto folder = source_dir() / "kernels/cuda";
  auto request = cuda(*read_file(folder / "judge.cu"));
  request.source.file_name = "judge.cu";
  request.source.folder = folder.string();
  request.entry = "ratchet_judge";
  request.arch = "sm_90";
  const auto record = bench.build(request);

  INFO((record.errors.empty() ? "" : record.errors[0].message));
  REQUIRE(record.ok);
  CHECK(exports(bench.library(record), "ratchet_judge"));
}
