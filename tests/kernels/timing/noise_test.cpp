#include "kernels/timing/noise.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <vector>

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
  // Each at the 99 % range of a t-distribution of two points, 9.925 times their scatter.
  const auto profile = fit_noise(around_one(5'000, 0.005), around_one(60'000, 0.003));

  CHECK(noise_floor_at(profile, 5'000) == Approx(9.925 * 0.005).epsilon(1e-3));
  CHECK(noise_floor_at(profile, 60'000) == Approx(9.925 * 0.003).epsilon(1e-3));
  CHECK(profile.absolute_ns > 0);
  CHECK(profile.relative < 9.925 * 0.003);
}

TEST_CASE("more calibrations make the noise floor tighter", "[noise]") {
  std::vector<NoisePoint> eight;
  for (int i = 0; i < 4; ++i)
    for (const auto& point : around_one(60'000, 0.003)) eight.push_back(point);

  CHECK(noise_floor_at(fit_noise({}, eight), 60'000) == Approx(3.355 * 0.003).epsilon(1e-3));
}

TEST_CASE("processes of one session are compared as independently as those of several", "[noise]") {
  // The logarithms of the times are 0, 0.01 and 0.02: the second against the first; the third
  // against the mean of both, 0.015, whose variance with the mean's is 1.5 instead of 2.
  const auto points = independent_points(5'000, std::vector{std::exp(0.01), std::exp(0.02)});
  REQUIRE(points.size() == 2);
  CHECK(std::log(points[0].ratio) == Approx(0.01));
  CHECK(std::log(points[1].ratio) == Approx(0.015 * std::sqrt(2 / 1.5)));

  // Of processes that scatter by 1, points scatter by √2, and none says anything about another.
  std::mt19937_64 random(20261123);
  std::normal_distribution<double> bias(0, 0.01);
  constexpr int kSessions = 20'000;
  double squares[3] = {};
  double products = 0;
  for (int i = 0; i < kSessions; ++i) {
    const double first = bias(random);
    std::vector<double> ratios(3);
    for (auto& ratio : ratios) ratio = std::exp(bias(random) - first);
    const auto drawn = independent_points(5'000, ratios);
    for (std::size_t k = 0; k < 3; ++k) squares[k] += std::pow(std::log(drawn[k].ratio), 2);
    products += std::log(drawn[0].ratio) * std::log(drawn[2].ratio);
  }
  for (const double sum : squares) CHECK(sum / kSessions == Approx(2e-4).epsilon(0.03));
  CHECK(std::abs(products / kSessions) < 0.03 * 2e-4);
}

TEST_CASE("a quiet device still has the minimum noise floor", "[noise]") {
  const auto profile = fit_noise(around_one(5'000, 0.0001), around_one(60'000, 0.0001));

  CHECK(noise_floor_at(profile, 5'000) == kLeastNoise);
  CHECK(noise_floor_at(NoiseProfile{}, 1) == kLeastNoise);
}

TEST_CASE("calibrated noise is stored per device and driver", "[noise]") {
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

TEST_CASE("a calibration on a busy machine is valid for only an hour", "[noise]") {
  const test::TempFolder state;
  // 9.9 times 5 % is more noise than "the same" may cover.
  REQUIRE(store_noise(state.path(), device("580"), fit_noise({}, around_one(60'000, 0.05))));
  REQUIRE(stored_noise(state.path(), device("580")));

  for (const auto& file : std::filesystem::directory_iterator(state.path() / "noise"))
    std::filesystem::last_write_time(
        file.path(), std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));

  CHECK_FALSE(stored_noise(state.path(), device("580")));
}

TEST_CASE("a good calibration is made again after a week", "[noise]") {
  const test::TempFolder state;
  REQUIRE(store_noise(state.path(), device("580"), fit_noise({}, around_one(60'000, 0.001))));
  const auto aged = [&](std::chrono::hours age) {
    for (const auto& file : std::filesystem::directory_iterator(state.path() / "noise"))
      std::filesystem::last_write_time(file.path(),
                                       std::filesystem::file_time_type::clock::now() - age);
    return stored_noise(state.path(), device("580")).has_value();
  };

  CHECK(aged(std::chrono::hours(6 * 24)));
  CHECK_FALSE(aged(std::chrono::hours(8 * 24)));
}
