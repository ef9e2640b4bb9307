#include "server/core/figures.h"

#include <catch2/catch_test_macros.hpp>

namespace ratchet {
namespace {

TEST_CASE("numbers are shown with three significant digits", "[figures]") {
  CHECK(three_digits(0) == "0");
  CHECK(three_digits(0.042208489) == "0.0422");
  CHECK(three_digits(35.63999) == "35.6");
  CHECK(three_digits(-999.6) == "-1000");
  CHECK(three_digits(12345) == "12300");
  CHECK(three_digits(999'600) == "1e6");
  CHECK(three_digits(4408866) == "4.41e6");
  CHECK(three_digits(45782191510.7) == "4.58e10");
}

TEST_CASE("a time is shown in the unit that fits", "[figures]") {
  CHECK(time_text(7) == "7 ns");
  CHECK(time_text(534'120) == "534 µs");
  CHECK(time_text(999'600) == "1 ms");
  CHECK(time_text(114'861'254) == "115 ms");
  CHECK(time_text(2.5e9) == "2.5 s");
}

}  // namespace
}  // namespace ratchet
