#include "kernels/build/target.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/devices.h"

using namespace ratchet;
using namespace ratchet::test;

TEST_CASE("the implementation follows the suffix and refuses to contradict it", "[target]") {
  CHECK(*resolve_implementation({}, "a.cu") == Implementation::cuda_cpp);
  CHECK(*resolve_implementation("auto", "a.py") == Implementation::triton);
  CHECK(*resolve_implementation("cute", "a.py") == Implementation::cute_dsl);
  CHECK(*resolve_implementation("cutlass", "a.cu") == Implementation::cutlass);
  CHECK_FALSE(resolve_implementation("triton", "a.cu"));
  CHECK_FALSE(resolve_implementation("opencl", "a.cu"));
  CHECK_FALSE(resolve_implementation({}, "a.txt"));
  CHECK(*resolve_implementation({}, "a.hip") == Implementation::hip_cpp);
  CHECK_FALSE(resolve_implementation("hip", "a.cu"));
}

TEST_CASE("an alias of an implementation never means another device", "[target]") {
  for (const auto* alias : {"cuda", "cute", "cutedsl", "CuTe"})
    CHECK_FALSE(resolve_implementation(alias, "a.cpp"));
  CHECK_FALSE(resolve_implementation("cpp", "a.py"));
  CHECK(*resolve_implementation("CUDA", "a.cu") == Implementation::cuda_cpp);
  CHECK(*resolve_implementation("cuda", "a.py") == Implementation::triton);
  CHECK(*resolve_implementation("cute", "a.cu") == Implementation::cuda_cpp);
  CHECK(*resolve_implementation("cpp", "a.cu") == Implementation::cuda_cpp);
  CHECK(*resolve_implementation("cpp", "a.cc") == Implementation::host_cpp);
}

TEST_CASE("a name or an alias means one implementation where there is no file yet", "[target]") {
  CHECK(*implementation_named("cuda") == Implementation::cuda_cpp);
  CHECK(*implementation_named("cute") == Implementation::cute_dsl);
  CHECK(*implementation_named("cpp") == Implementation::host_cpp);
  CHECK(*implementation_named("hip") == Implementation::hip_cpp);
  CHECK(*implementation_named("host-python") == Implementation::host_python);
  CHECK_FALSE(implementation_named("opencl"));
}

TEST_CASE("the exact architecture is chosen when the source needs it", "[target]") {
  CHECK(*resolve_arch({}, hopper(), "plain") == "sm_90");
  CHECK(*resolve_arch({}, hopper(), "asm(\"wgmma.fence\")") == "sm_90a");
  CHECK(*resolve_arch("90a", hopper(), "plain") == "sm_90a");
  CHECK_FALSE(resolve_arch("sm_80", hopper(), "plain"));
  CHECK_FALSE(resolve_arch("sm_100a", hopper(), "plain"));
  CHECK_FALSE(resolve_arch("fast", hopper(), "plain"));
}

TEST_CASE("the target of a HIP build is named, as no device here could choose it", "[target]") {
  CHECK(resolve_hip_arch("gfx908:sramecc+:xnack-"));
  CHECK_FALSE(resolve_hip_arch({}));
  CHECK_FALSE(resolve_hip_arch("sm_90"));
  CHECK_FALSE(resolve_hip_arch("gfx90a -o /tmp/x"));
}
