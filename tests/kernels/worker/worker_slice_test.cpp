#include "kernels/worker/slice.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/worker/small_float.h"

using namespace ratchet;
using namespace ratchet::worker;

namespace {

/// Which of the 3 x 4 values of x change, and by how much.
std::vector<double> changes(const wire::Slice& slice, const std::string& init = "normal",
                            double value = 0.5) {
  const wire::Buffer buffer{"x", DType::f32, Role::in, init, 0, 12, {3, 4}};
  std::vector<std::byte> bytes(48);
  for (std::int64_t i = 0; i < 12; ++i) set_element(bytes.data(), DType::f32, i, value);
  REQUIRE(move_slice(bytes, buffer, slice));
  std::vector<double> moved;
  for (std::int64_t i = 0; i < 12; ++i)
    moved.push_back(element(bytes.data(), DType::f32, i) - value);
  return moved;
}

std::vector<std::int64_t> places(const std::vector<double>& moved) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < moved.size(); ++i)
    if (moved[i] != 0) all.push_back(static_cast<std::int64_t>(i));
  return all;
}

}  // namespace

TEST_CASE("a slice is the end of one axis, or one element", "[worker]") {
  CHECK(places(changes({0, 2, 3, 4})) == std::vector<std::int64_t>{8, 9, 10, 11});
  CHECK(places(changes({1, 3, 4, 4})) == std::vector<std::int64_t>{3, 7, 11});
  CHECK(places(changes({-1, 6, 7, 4})) == std::vector<std::int64_t>{6});
}

TEST_CASE("a slice moves by about the amount, and stays within a given range", "[worker]") {
  for (const double change : changes({-1, 0, 12, 4})) {
    CHECK(std::fabs(change) >= 2);
    CHECK(std::fabs(change) <= 6);
  }
  for (const double change : changes({-1, 0, 12, 64}, "uniform(0,1)", 0.25)) CHECK(change == 0.5);
}

TEST_CASE("a slice outside of its tensor is refused", "[worker]") {
  const wire::Buffer buffer{"x", DType::f32, Role::in, "normal", 0, 12, {3, 4}};
  std::vector<std::byte> bytes(48);
  CHECK_FALSE(move_slice(bytes, buffer, {1, 3, 5, 4}));
  CHECK_FALSE(move_slice(bytes, buffer, {2, 0, 1, 4}));
}
