// The energy of a call, with a count that the test makes: this machine's processor instead of a
// GPU.

#include "kernels/timing/energy.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "tests/kernels/lab/supplied.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// A supply of 200 W from now on.
EnergyReader two_hundred_watts() {
  const auto begin = std::chrono::steady_clock::now();
  return [begin]() -> Result<double> {
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    return 200 * spent.count();
  };
}

constexpr std::chrono::milliseconds kShort{300};

}  // namespace

TEST_CASE("the energy of a call is what was taken over the calls that followed each other",
          "[energy][timed]") {
  // About a millisecond of work.
  Supplied one(
      "for (int t = 0; t < 20; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * "
      "x[i];",
      100'000);

  const auto energy =
      energy_of(*one.process, *one.arenas, two_hundred_watts(), 1e6, one.fixture.call, kShort);

  if (!energy) FAIL(energy.error().message);
  CHECK(energy->watts == Catch::Approx(200).epsilon(0.02));
  CHECK(energy->seconds >= 0.3);
  CHECK(energy->busy > 0.5);
  CHECK(energy->calls > 10);
  CHECK(energy->millijoules * static_cast<double>(energy->calls) ==
        Catch::Approx(1000 * energy->watts * energy->seconds));
}

TEST_CASE("the energy of waiting is not given as that of a call", "[energy]") {
  Supplied one(kHonestBody, 10);

  const auto energy =
      energy_of(*one.process, *one.arenas, two_hundred_watts(), 1e6, one.fixture.call, kShort);

  REQUIRE_FALSE(energy);
  CHECK(energy.error().code == ErrorCode::unavailable);
  CHECK(energy.error().message.find("% of the time") != std::string::npos);
}

TEST_CASE("a count of energy that stands still, or cannot be read, gives none", "[energy]") {
  Supplied one(
      "for (int t = 0; t < 20; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * "
      "x[i];",
      100'000);

  const auto still = energy_of(
      *one.process, *one.arenas, [] { return Result<double>(7); }, 1e6, one.fixture.call, kShort);
  const auto refused = energy_of(
      *one.process, *one.arenas, [] { return Result<double>(unavailable("no permission")); }, 1e6,
      one.fixture.call, kShort);

  REQUIRE_FALSE(still);
  CHECK(still.error().message.find("stood still") != std::string::npos);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "no permission");
}
