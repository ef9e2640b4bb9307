#include "kernels/timing/timing_session.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

namespace {

std::string code_of(const std::vector<wire::CallSpan>& calls, double median_ns) {
  const auto reason = reason_of_spans(calls, median_ns);
  return reason ? reason->code : "";
}

}  // namespace

TEST_CASE("calls whose span fits their time are accepted", "[timing]") {
  CHECK(code_of({{1, 30'000}, {1, 31'000}, {1, 29'000}}, 31'000).empty());
  // The limit is 1.5 times 10 µs plus 5 µs: 20 µs.
  CHECK(code_of({{1, 20'000}, {1, 20'000}, {1, 20'000}}, 10'000).empty());
}

TEST_CASE("work outside the events is a contradiction", "[timing]") {
  CHECK(code_of({{2, 20'100}, {2, 20'100}, {2, 20'100}}, 10'000) == "span_exceeds_events");
  // One slow call of several is due to the machine.
  CHECK(code_of({{2, 90'000}, {2, 11'000}, {2, 11'000}}, 10'000).empty());
}

TEST_CASE("varying numbers of launches are a contradiction", "[timing]") {
  CHECK(code_of({{1, 9'000}, {2, 9'000}, {1, 9'000}}, 10'000) == "launches_vary");
}

TEST_CASE("fewer than three calls prove nothing", "[timing]") {
  CHECK(code_of({}, 10'000).empty());
  CHECK(code_of({{1, 90'000}, {2, 90'000}}, 10'000).empty());
}

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
