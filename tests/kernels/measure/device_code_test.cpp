#include <catch2/catch_test_macros.hpp>

#include "server/core/process.h"
#include "tests/support/places.h"

using namespace std::chrono_literals;

TEST_CASE("the device code assembles for every supported architecture", "[cuda]") {
  const auto ptxas = ratchet::find_program("ptxas");
  if (!ptxas) SKIP("ptxas is not installed");
  for (const char* chip : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    ratchet::ProcessSpec spec;
    spec.argv = {ptxas->string(), std::string("-arch=") + chip, "-o", "/dev/null",
                 (ratchet::test::source_dir() / "kernels/cuda/measure.ptx").string()};

    const auto done = ratchet::run_program(spec, 30s);

    REQUIRE(done);
    INFO(chip << ": " << done->err);
    CHECK(done->status.clean());
  }
}
