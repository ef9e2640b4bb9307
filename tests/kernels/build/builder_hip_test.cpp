#include <catch2/catch_test_macros.hpp>

#include "kernels/disassembly/disassembler.h"
#include "tests/kernels/build/builder_bench.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

BuildRequest hip(const std::string& text) {
  if (!toolchain().hip) SKIP("hipcc was not found");
  return request_of(Language::hip, "kernel.hip", "#include <hip/hip_runtime.h>\n" + text, "gfx90a");
}

constexpr const char* kReverse = R"(
__global__ void f(const float* x, float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" void solve(const float* x, float* y, hipStream_t stream) {
  f<<<1, 64, 0, stream>>>(x, y);
})";

}  // namespace

TEST_CASE("a HIP kernel builds for an AMD GPU and reports its resources", "[builder][hip][slow]") {
  const Bench bench;
  const auto record = bench.build(hip(kReverse));

  INFO((record.errors.empty() ? "" : record.errors[0].message));
  REQUIRE(record.ok);
  CHECK(record.registers.value_or(0) > 0);
  CHECK(record.shared_bytes == 256);
  CHECK(record.spill_bytes == 0);
  CHECK(record.command.find("--offload-arch=gfx90a") != std::string::npos);
  CHECK(exports(bench.library(record), "solve"));
  CHECK(bench.build(hip(kReverse)).cached);
  auto other = hip(kReverse);
  other.arch = "gfx908";
  CHECK_FALSE(bench.build(other).cached);
}

TEST_CASE("hipcc's failures are classified, with lines", "[builder][hip][slow]") {
  const Bench bench;
  const auto broken = bench.build(hip("extern \"C\" void solve(float* y) {\n  y[0] = nothing;\n}"));
  REQUIRE(broken.errors.size() == 1);
  CHECK(broken.errors[0].line == 3);
  CHECK(bench.build(hip("#include \"none.h\"\nextern \"C\" void solve(float* y) {}")).error_class ==
        "missing_header");
  CHECK(bench.build(hip("#include <unistd.h>\nextern \"C\" void solve(float* y) { fork(); }"))
            .error_class == "forbidden_symbol");
  const auto outside = bench.folder / "outside.h";
  REQUIRE(write_file(outside, "// nothing"));
  CHECK(
      bench
          .build(hip("#include \"" + outside.string() + "\"\nextern \"C\" void solve(float* y) {}"))
          .error_class == "forbidden_include");
  auto unknown = hip(kReverse);
  unknown.arch = "gfx9999";
  CHECK(bench.build(unknown).error_class == "wrong_arch");
}

TEST_CASE("without hipcc a HIP kernel is refused with what to install", "[builder][hip]") {
  const TempFolder folder;
  auto found = toolchain();
  found.hip.reset();
  const auto builder = Builder::open({folder / "cache", [found] { return found; }});
  REQUIRE(builder);
  const auto refused =
      builder->build(request_of(Language::hip, "kernel.hip", kReverse, "gfx90a"), CallContext());

  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::unavailable);
  CHECK(refused.error().message == "a working hipcc was not found");
  CHECK(refused.error().hint.find("Install hipcc and libamdhip64-dev") != std::string::npos);
  CHECK(refused.error().hint.find("PATH") != std::string::npos);
  // A library that was built where there was one.
  const auto listing = amd_code_of("library.so", found, {});
  REQUIRE_FALSE(listing);
  CHECK(listing.error().hint == refused.error().hint);
  // The rest of what is here builds without it.
  CHECK(builder
            ->build(request_of(Language::cpp, "kernel.cpp",
                               "extern \"C\" void solve(float* y) { *y = 1; }", ""),
                    CallContext())
            ->ok);
}
