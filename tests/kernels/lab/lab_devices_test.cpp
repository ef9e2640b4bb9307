#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("the environment lists the host, and each GPU once", "[lab]") {
  test::LabFixture fixture;

  const auto environment = fixture.lab->environment(std::nullopt, fixture.call);

  REQUIRE(environment);
  REQUIRE(!environment->devices.empty());
  CHECK(environment->devices.front().kind == DeviceKind::host);
  for (std::size_t i = 1; i < environment->devices.size(); ++i) {
    CHECK(environment->devices[i].kind == DeviceKind::cuda);
    CHECK(environment->devices[i].index == static_cast<int>(i) - 1);
  }
}

TEST_CASE("a GPU that is not there is refused by its number", "[lab]") {
  test::LabFixture fixture;

  const auto environment = fixture.lab->environment(63, fixture.call);

  REQUIRE(!environment);
  CHECK_THAT(environment.error().message, ContainsSubstring("cuda device 63 cannot be used"));
}
