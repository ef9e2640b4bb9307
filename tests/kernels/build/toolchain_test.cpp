#include "kernels/build/toolchain.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

TEST_CASE("the compiler that built this test is found with its version", "[toolchain]") {
  const auto toolchain = find_toolchain("python3");

  REQUIRE(toolchain.host_compiler);
  CHECK(toolchain.host_compiler->version.find('.') != std::string::npos);
  CHECK_FALSE(toolchain.include_dirs.empty());
  if (toolchain.nvcc) {
    CHECK(toolchain.nvcc->version.find('.') != std::string::npos);
    CHECK(std::filesystem::exists(toolchain.cuda_home / "include/cuda_runtime.h"));
  }
}

TEST_CASE("an absent tool is not an error", "[toolchain]") {
  CHECK_FALSE(find_toolchain("no-such-python").python);
}

TEST_CASE("readiness names what is missing", "[toolchain]") {
  Toolchain toolchain;
  toolchain.host_compiler = FoundProgram{"/usr/bin/g++", "12.2.0"};
  toolchain.nvcc = FoundProgram{"/usr/bin/nvcc", "13.0.88"};
  toolchain.python_packages = {{"torch", "2.9"}};
  const auto states = implementation_states(toolchain, true);
  const auto missing = [&](Implementation name) {
    return std::ranges::find(states, name, &ImplementationState::name)->missing;
  };

  CHECK(missing(Implementation::host_cpp).empty());
  CHECK(missing(Implementation::cuda_cpp).empty());
  CHECK(missing(Implementation::cutlass) == std::vector<std::string>{"CUTLASS headers"});
  CHECK(missing(Implementation::triton) == std::vector<std::string>{"triton"});
  CHECK(implementation_states(toolchain, false)[1].missing ==
        std::vector<std::string>{"a CUDA device"});
}
