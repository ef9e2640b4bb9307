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

TEST_CASE("a run does not go on on another device than it was created on", "[lab]") {
  test::LabFixture fixture;
  auto contract = fixture.doubling(test::doubling_source(test::kHonestBody));
  const auto candidate = fixture.lab->build(contract, contract.kernel, fixture.call);
  REQUIRE(candidate);
  const auto here = contract.device_name;
  const auto report = fixture.lab->check(contract, *candidate, "secret", fixture.call);
  REQUIRE(report);
  CHECK(report->passed);

  contract.device_name = "Abacus 9000";
  const auto checked = fixture.lab->check(contract, *candidate, "secret", fixture.call);
  const auto raced = fixture.lab->race(contract, {{"a", &*candidate}, {"b", &*candidate}}, {},
                                       "secret", fixture.call);

  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == ErrorCode::unavailable);
  CHECK(checked.error().message ==
        "device: the run was created on Abacus 9000, and host device 0 of this machine is " + here);
  REQUIRE_FALSE(raced);
  CHECK(raced.error().message == checked.error().message);
}
