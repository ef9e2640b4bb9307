#include "kernels/build/build_needs.h"

#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;

TEST_CASE("CUDA libraries follow from headers and calls", "[build_needs]") {
  using List = std::vector<std::string>;
  CHECK(build_needs("#include <cublas_v2.h>\n#include \"cublasLt.h\"").libraries ==
        List{"cublas", "cublasLt"});
  CHECK(build_needs("#include <curand_kernel.h>\n#include <cuda.h>").libraries.empty());
  CHECK(build_needs("#include <cuda.h>\nvoid f() { cuTensorMapEncodeTiled(m); }").libraries ==
        List{"cuda"});
  CHECK(build_needs("void f() { cudaMalloc(p, 4); curandInit(); }").libraries.empty());
}

TEST_CASE("a later C++ standard follows from headers and keywords, not from comments",
          "[build_needs]") {
  CHECK(build_needs("#include <span>").standard == "c++20");
  CHECK(build_needs("template <class T> concept C = true;").standard == "c++20");
  CHECK_FALSE(build_needs("// this concept requires care\n#include <vector>").standard);
}

TEST_CASE("kernels that launch kernels are distinguished from host functions that do",
          "[build_needs]") {
  const std::string child = "__global__ void child(float* y) { y[0] = 1 << 2; }\n";
  CHECK(build_needs(child + "__global__ void f(float* y) { if (y) { child<<<1, 1>>>(y); } }")
            .device_launches);
  CHECK(build_needs(child + "__device__ void g(float* y) { {} child<<<1, 1>>>(y); }")
            .device_launches);
  CHECK_FALSE(build_needs(child + "void solve(float* y) { child<<<1, 1>>>(y); }").device_launches);
  CHECK_FALSE(build_needs("__device__ float table[] = {1, 2};\n__global__ void child(float* y);\n" +
                          child + "void solve(float* y) { child<<<1, 1>>>(y); }")
                  .device_launches);
}

TEST_CASE("only architectures with an exact variant get one", "[build_needs]") {
  CHECK(exact_arch("sm_90", build_needs("asm(\"wgmma.fence.sync.aligned;\");")) == "sm_90a");
  CHECK(exact_arch("sm_100", build_needs("asm(\"tcgen05.wait\");")) == "sm_100a");
  CHECK(exact_arch("sm_90a", build_needs("wgmma")) == "sm_90a");
  CHECK(exact_arch("sm_80", build_needs("wgmma")) == "sm_80");
  CHECK(exact_arch("sm_90", build_needs("int x;")) == "sm_90");
  CHECK(exact_arch("native", build_needs("wgmma")) == "native");
}

TEST_CASE("headers beside the source count, headers elsewhere do not", "[build_needs]") {
  const test::TempFolder folder;
  REQUIRE(write_file(folder / "secret.h", "wgmma"));
  REQUIRE(write_file(folder / "src/inner/b.h", "tcgen05"));
  REQUIRE(write_file(folder / "src/inner/a.h", "#include \"b.h\"\n#include \"a.h\"\n"));
  const Source source{"k.cu", "#include \"inner/a.h\"\n#include \"../secret.h\"\n",
                      (folder / "src").string()};

  const auto text = with_local_headers(source);
  CHECK(text.find("tcgen05") != std::string::npos);
  CHECK(text.find("wgmma") == std::string::npos);
}

TEST_CASE("only sources that include no files of their own go to the fast compiler",
          "[build_needs]") {
  CHECK(
      reads_toolkit_alone("#include <cuda_fp16.h>\n# include <cub/block/block_reduce.cuh>\n"
                          "#define A 1\n#pragma unroll\nint x;"));
  for (const auto* text :
       {"#include \"x.h\"", "#include </etc/hostname>", "#include <../x.h>", "#include NAME",
        "#inc\\\nlude \"x\"", "%:include \"x\"", "# /**/ include \"x\"", "#embed <x>",
        "#include_next <x>", "#define S(x) #x", "#include", "#"})
    CHECK_FALSE(reads_toolkit_alone(text));
}
