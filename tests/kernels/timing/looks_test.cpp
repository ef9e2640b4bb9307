#include "kernels/timing/looks.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

TEST_CASE("however often a session looks, the looks share one error rate", "[timing]") {
  double sum = 0;
  for (std::size_t i = 0; i < 40; ++i) sum += look_at(i).share;

  CHECK(sum <= 1);
  CHECK(sum > 0.99);
  CHECK(look_at(0).rounds == 8);
  CHECK(look_at(6).rounds == kMostRounds);
  CHECK(fewest_rounds(kErrorRate * look_at(0).share) == 8);  // the first look can decide
  CHECK(look_after(8).rounds == 8);
  CHECK(look_after(9).rounds == 13);
}

TEST_CASE("the first look waits for as many rounds as can decide all verdicts", "[timing]") {
  // 18 % of 5 % for two: 0.45 %, which 2 ÷ 2^9 is below and 2 ÷ 2^8 above.
  CHECK(look_at(0, kErrorRate / 2).rounds == 9);
  CHECK(look_at(0, kErrorRate / 11).rounds == 12);
  CHECK(look_at(0, kErrorRate / 1000).rounds == 12);  // before the second
  CHECK(look_at(1, kErrorRate / 2).rounds == 13);
  CHECK(look_after(9, kErrorRate / 2).share == look_at(0).share);
  CHECK(look_after(10, kErrorRate / 2).rounds == 13);
}
