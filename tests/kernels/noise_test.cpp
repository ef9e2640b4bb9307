#include "kernels/noise.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "server/core/files.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using Catch::Approx;

namespace {

/// Two points at a distance of `log_ratio` on both sides of 1: their scatter is that distance.
std::vector<NoisePoint> around_one(double time_ns, double log_ratio) {
  return {{time_ns, std::exp(log_ratio)}, {time_ns, std::exp(-log_ratio)}};
}

DeviceInfo device(const std::string& driver) {
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.name = "Some GPU";
  info.uuid = "GPU-1";
  info.driver = driver;
  return info;
}

}  // namespace

TEST_CASE("short kernels have a larger noise floor than long ones", "[noise]") {
  // Long: 3 * 0.3 % = 0.9 %. Short: 3 * 0.5 % = 1.5 %, of which sqrt(1.5² - 0.9²) = 1.2 % do not
  // grow with the time: 1.2 % of 5 µs = 60 ns.
  const auto profile = fit_noise(around_one(5'000, 0.005), around_one(60'000, 0.003));

  CHECK(profile.relative == Approx(0.009));
  CHECK(profile.absolute_ns == Approx(60));
  CHECK(noise_floor_at(profile, 5'000) == Approx(0.015));
  // At 60 µs: sqrt(0.9² + 0.1²) %.
  CHECK(noise_floor_at(profile, 60'000) == Approx(0.0090554).epsilon(1e-4));
}

TEST_CASE("a quiet device still has the least noise floor", "[noise]") {
  const auto profile = fit_noise(around_one(5'000, 0.0001), around_one(60'000, 0.0001));

  CHECK(noise_floor_at(profile, 5'000) == kLeastNoise);
  CHECK(noise_floor_at(NoiseProfile{}, 1) == kLeastNoise);
}

TEST_CASE("calibrated noise is kept for a device and its driver", "[noise]") {
  const test::TempFolder state;
  const auto profile = fit_noise(around_one(5'000, 0.02), around_one(60'000, 0.01));
  REQUIRE(store_noise(state.path(), device("580"), profile));

  const auto known = stored_noise(state.path(), device("580"));

  REQUIRE(known);
  CHECK(known->relative == profile.relative);
  CHECK(known->points.size() == 4);
  CHECK_FALSE(stored_noise(state.path(), device("590")));
}

TEST_CASE("a damaged calibration counts as none", "[noise]") {
  const test::TempFolder state;
  REQUIRE(store_noise(state.path(), device("580"), fit_noise(around_one(1, 0.1), {})));
  for (const auto& file : std::filesystem::directory_iterator(state.path() / "noise"))
    REQUIRE(write_file(file.path(), "{\"relative\": "));

  CHECK_FALSE(stored_noise(state.path(), device("580")));
}
