#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "server/core/process.h"
#include "tests/kernels/build/builder_bench.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Calls a library's `solve` with each of the sizes given.
constexpr const char* kRuntime = R"cpp(
  // A runtime of a device with 4 multiprocessors, each with 200 KiB of shared memory for 8 blocks
  // at most, that prints launches.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

  static dim3 grid, block;
  static size_t shared;
  static int allowed = 48 << 10;

  extern "C" {
  void** __cudaRegisterFatBinary(void*) {
    static void* handle;
    return &handle;
  }
  void __cudaRegisterFatBinaryEnd(void**) {}
  void __cudaUnregisterFatBinary(void**) {}
  void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                              dim3*, int*) {}
  unsigned __cudaPushCallConfiguration(dim3 g, dim3 b, size_t s, cudaStream_t) {
    grid = g;
    block = b;
    shared = s;
    return 0;
  }
  cudaError_t __cudaPopCallConfiguration(dim3* g, dim3* b, size_t* s, void* stream) {
    *g = grid;
    *b = block;
    *s = shared;
    *(cudaStream_t*)stream = nullptr;
    return cudaSuccess;
  }
  cudaError_t __cudaGetKernel(void** kernel, const void* function) {
    *kernel = (void*)function;
    return cudaSuccess;
  }
  cudaError_t cudaLaunchKernel(const void*, dim3 g, dim3, void**, size_t s, cudaStream_t) {
    printf("%u blocks, %zu KiB%s\n", g.x, s >> 10, (int)s > allowed ? ", refused" : "");
    return cudaSuccess;
  }
  cudaError_t __cudaLaunchKernel(const void* k, dim3 g, dim3 b, void** a, size_t s, cudaStream_t t) {
    return cudaLaunchKernel(k, g, b, a, s, t);
  }
  cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
  }
  cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
    *value = what == cudaDevAttrMultiProcessorCount ? 4 : 96 << 10;
    return cudaSuccess;
  }
  cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* about, const void*) {
    *about = {};
    return cudaSuccess;
  }
  cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int value) {
    allowed = value;
    return cudaSuccess;
  }
  cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t s) {
    const size_t fit = (200 << 10) / (s + 1024);
    *blocks = fit < 8 ? fit : 8;
    return cudaSuccess;
  }
  }

  int main(int, char** arguments) {
    void* library = dlopen(arguments[1], RTLD_NOW);
    if (!library) {
      puts(dlerror());
      return 1;
    }
    auto* const solve = (void (*)(float*, int))dlsym(library, "solve");
    for (int i = 2; arguments[i]; ++i) solve(nullptr, atoi(arguments[i]));
  }
)cpp";

/// Builds the source with a toolkit's compiler, calls it under that runtime, and says what it
/// launched.
struct Launches {
  Launches() {
    if (!toolchain().nvcc || !toolchain().host_compiler) SKIP("nvcc or g++ was not found");
    std::ofstream(bench.folder / "runtime.cpp") << kRuntime;
    const auto made =
        run({toolchain().host_compiler->path.string(), "-rdynamic", "-I",
             (toolchain().cuda_home / "include").string(), "runtime.cpp", "-o", "runtime", "-ldl"});
    INFO(made.err);
    REQUIRE(made.status.clean());
  }

  std::string of(bool fewer_blocks, const std::vector<std::string>& sizes) const {
    BuildRequest request;
    request.source = {"kernel.cu", source, ""};
    request.language = Language::cuda;
    request.arch = "sm_90";
    request.fewer_blocks = fewer_blocks;
    const auto record = bench.build(request);
    INFO((record.errors.empty() ? "" : record.errors[0].message));
    REQUIRE(record.ok);
    std::vector<std::string> command{(bench.folder / "runtime").string(),
                                     bench.builder.path_of(record.build_key)->string()};
    command.insert(command.end(), sizes.begin(), sizes.end());
    return run(command).out;
  }

  Captured run(const std::vector<std::string>& command) const {
    ProcessSpec spec;
    spec.argv = command;
    spec.folder = bench.folder.path();
    spec.environment = inherited_environment({"PATH"});
    auto ran = run_program(spec, std::chrono::seconds(60), {});
    REQUIRE(ran);
    return *std::move(ran);
  }

  Bench bench;
  std::string source = R"(
__global__ void f(float* y, int n) {
  extern __shared__ float s[];
  s[threadIdx.x] = n;
  __syncthreads();
  y[blockIdx.x] = s[n];
}
extern "C" void solve(float* y, int n) { f<<<n, 64, 4096>>>(y, n); })";
};

}  // namespace

TEST_CASE("the same source, built for fewer blocks, asks for memory that lets half be resident",
          "[builder][cuda]") {
  const Launches launches;
  // Eight blocks of 4 KiB fit on a multiprocessor, and four of 40 KiB: 200 / (40 + 1).
  CHECK(launches.of(true, {"64", "1000"}) == "64 blocks, 40 KiB\n1000 blocks, 40 KiB\n");
}

TEST_CASE("blocks that may wait for each other all stay resident", "[builder][cuda]") {
  const Launches launches;
  // Two waves of eight on four multiprocessors are 64 blocks: of fewer, most may be resident.
  CHECK(launches.of(true, {"32", "63"}) == "32 blocks, 4 KiB\n63 blocks, 4 KiB\n");
}

TEST_CASE("a plain build launches what the source says", "[builder][cuda]") {
  const Launches launches;
  CHECK(launches.of(false, {"63", "64", "1000"}) ==
        "63 blocks, 4 KiB\n64 blocks, 4 KiB\n1000 blocks, 4 KiB\n");
}

TEST_CASE("a source that sets its own limit of shared memory keeps its fewer blocks",
          "[builder][cuda]") {
  Launches launches;
  launches.source.insert(launches.source.find("f<<<n"),
                         "cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                         "4096); ");
  CHECK(launches.of(true, {"64", "64"}) == "64 blocks, 40 KiB\n64 blocks, 40 KiB\n");
}
