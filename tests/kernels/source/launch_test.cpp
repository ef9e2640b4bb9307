#include "kernels/source/launch.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace ratchet;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a source can state its own launch configuration", "[launch]") {
  const auto launch = launch_line(
      "#include <cuda_fp16.h>\n"
      "  // launch: grid = ceil_div(n, 1024), min(rows, 64) ; block = 256; shared = 4 * 256\r\n"
      "__global__ void f(float* x) {}\n");

  REQUIRE(launch);
  REQUIRE(launch->has_value());
  CHECK((*launch)->grid == std::vector<std::string>{"ceil_div(n, 1024)", "min(rows, 64)"});
  CHECK((*launch)->block == std::vector<std::string>{"256"});
  CHECK((*launch)->shared == "4 * 256");
  CHECK(launch_line("// we launch: nothing\n// relaunch: x\nint x;")->has_value() == false);
}

TEST_CASE("an invalid launch line is refused with the reason", "[launch]") {
  for (const auto* line : {"// launch: blocks = 3", "// launch: grid 3", "// launch: (,"}) {
    const auto launch = launch_line(line);
    REQUIRE_FALSE(launch);
    CHECK(has(launch.error().hint, "grid = ceil_div(n, 256)"));
  }
}

TEST_CASE("a launch that no device can execute is refused with its numbers", "[launch]") {
  const Dims dims{{"n", 1000}};
  CHECK(check_launch({{"ceil_div(n,256)"}, {"16", "16", "4"}, "n*4"}, dims));
  const auto message = [&](const Launch& launch) {
    return check_launch(launch, dims).error().message;
  };
  CHECK(has(message({{"n/1001"}, {"256"}, "0"}), "\"n/1001\", is 0 at these sizes"));
  CHECK(has(message({{"m"}, {"256"}, "0"}), "m"));
  CHECK(has(message({{"n"}, {"32", "33"}, "0"}), "1056 threads"));
  CHECK(has(message({{"1", "65536"}, {"32"}, "0"}), "65535"));
  CHECK(has(message({{"1"}, {"1", "1", "65"}, "0"}), "64"));
  CHECK(has(message({{"1"}, {"32"}, "0-1"}), "-1 bytes"));
  CHECK(has(message({{}, {"32"}, "0"}), "0 comma-separated parts"));
  CHECK(has(message({{"n*n*n*n*n*n*n"}, {"32"}, "0"}), "grid"));
}

TEST_CASE("a kernel's declaration needs no header of the C library", "[launch]") {
  const auto kernel = parse_signature(
      "template <int N> __global__ void other(float* x) {}\n"
      "__global__ void __launch_bounds__(256) f(const uint32_t* __restrict__ x, float* y, "
      "std::size_t "
      "n) {}",
      "f", {Language::cuda, {}, true});

  REQUIRE(kernel);
  const auto header = declaration_header(*kernel);
  CHECK(has(header, "extern \"C\" __global__ void f(const unsigned int*, float*, unsigned long);"));
  CHECK_FALSE(has(header, "#include"));
  CHECK(kernel_names("template <int N> __global__ void t() {}\n__global__ void f() {}\n"
                     "namespace n { __global__ void g() {} }\nvoid h() {}") ==
        std::vector<std::string>{"f", "g"});
  CHECK_FALSE(parse_signature("void f(float* x) {}", "f", {Language::cuda, {}, true}));
}

TEST_CASE("the numbers of a launch mean the same in its host function", "[launch]") {
  // In C++ 0256 is 174, 1e+3 would be cut into two words, and a dim may be named like a function.
  const Launch launch{{"1e+3", ".5e1", "max(n, min)"}, {"0256"}, "4*n % 10e-1"};
  REQUIRE(check_launch(launch, {{"n", 7}, {"min", 2}}));
  const auto stub = launch_stub(launch, {.entry = "f", .device = true}, {"n", "min"});

  CHECK(has(stub, "unsigned(i64(1000)), unsigned(i64(5)), unsigned(f_max(i64(a_n), i64(a_min)))"));
  CHECK(has(stub, "unsigned(i64(256))"));
  CHECK(has(stub, "shared = i64(4)*i64(a_n) % i64(1);"));
}
