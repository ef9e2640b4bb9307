// Behavior without a driver or without CUPTI: everything must load, start and report what is
// missing. The cases about a missing driver are skipped on a machine that has one.

#include <dlfcn.h>
#include <sys/socket.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "kernels/measure/cupti/cupti.h"
#include "kernels/measure/device/gpu.h"
#include "kernels/protocol/messages.h"
#include "server/core/channel.h"
#include "server/core/process.h"
#include "tests/support/places.h"

using Catch::Matchers::ContainsSubstring;

namespace {

void skip_with_driver() {
  if (void* library = dlopen("libcuda.so.1", RTLD_LAZY)) {
    dlclose(library);
    SKIP("this machine has a CUDA driver");
  }
}

}  // namespace

TEST_CASE("a missing driver is an error that names the library and a remedy", "[cuda]") {
  skip_with_driver();
  const auto gpu = ratchet::measure::Gpu::open(0);

  REQUIRE_FALSE(gpu);
  CHECK(gpu.error().code == ratchet::ErrorCode::unavailable);
  CHECK_THAT(gpu.error().message, ContainsSubstring("no CUDA driver: libcuda.so.1"));
  CHECK_THAT(gpu.error().hint, ContainsSubstring("host device"));
}

TEST_CASE("the CUDA worker starts without a driver and reports why it cannot work", "[cuda]") {
  skip_with_driver();
  auto ends = ratchet::Channel::connected();
  REQUIRE(ends);
  ratchet::ProcessSpec spec;
  spec.argv = {(ratchet::test::build_dir() / "bin/ratchet-worker-cuda").string(), "candidate", "0"};
  spec.descriptors = {{ends->second.get(), 3}};
  auto worker = ratchet::Process::spawn(spec);
  REQUIRE(worker);
  ends->second.reset();
  ratchet::Channel channel(std::move(ends->first), ratchet::Descriptors::refused);

  const auto ready = channel.receive(std::chrono::seconds(20));

  REQUIRE(ready);
  const auto reply = ratchet::decode_stored<ratchet::wire::Reply>(ready->body);
  REQUIRE(reply);
  REQUIRE(reply->error);
  CHECK_THAT(*reply->error, ContainsSubstring("no CUDA driver"));
}

TEST_CASE("a missing CUPTI is an error that lists the paths tried", "[cuda]") {
  const auto cupti =
      ratchet::measure::Cupti::load({"/nowhere/libcupti.so.13", "/else/libcupti.so"});

  REQUIRE_FALSE(cupti);
  CHECK(cupti.error().code == ratchet::ErrorCode::unavailable);
  CHECK_THAT(cupti.error().message,
             ContainsSubstring("/nowhere/libcupti.so.13, /else/libcupti.so"));
  CHECK_THAT(cupti.error().hint, ContainsSubstring("CUDA_HOME"));
}

TEST_CASE("a library that is not CUPTI is rejected with the name of a missing function", "[cuda]") {
  const auto cupti = ratchet::measure::Cupti::load({"libm.so.6"});

  REQUIRE_FALSE(cupti);
  CHECK_THAT(cupti.error().message, ContainsSubstring("cuptiGetResultString"));
}

TEST_CASE("the measuring library does not export its CUDA runtime", "[cuda]") {
  // A kernel linked with libcudart must not bind to this copy of the runtime.
  void* library = dlopen((ratchet::test::build_dir() / "bin/libratchet-measure.so").c_str(),
                         RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);

  CHECK_FALSE(dlsym(library, "cudaMalloc"));
  CHECK_FALSE(dlsym(library, "cudaGetLastError"));
}
