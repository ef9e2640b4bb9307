#include "tools/lab_time.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

TEST_CASE("a run that moves says that noise is equal only where it was compared", "[labs]") {
  MeasuredOn on{.lab = "box-1"};
  CHECK(taken_over_text(on, "box-2") ==
        "From now on the run is on lab box-2, which equals box-1 in devices, driver and tools; "
        "their noise was not compared, because the run has no comparison yet to hold it against. "
        "Call again.");

  on.noise = SeenNoise{0.01, 91000};
  CHECK(taken_over_text(on, "box-2") ==
        "From now on the run is on lab box-2, which equals box-1 in devices, driver, tools and "
        "noise. Call again.");
}
