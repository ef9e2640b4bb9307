#include <catch2/catch_test_macros.hpp>

#include "tests/kernels/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

/// Does the work `times` times over; volatile, so that the compiler does not merge the passes.
std::string passes(int times) {
  return doubling_source("for (int t = 0; t < " + std::to_string(times) +
                         "; ++t) for (int i = 0; i < n; ++i) ((volatile float*)y)[i] = 2 * x[i];");
}

struct Contest : LabFixture {
  Contract contract = doubling(passes(24), 50'000);

  Candidate candidate(const std::string& source) {
    contract.kernel.text = source;
    return built(contract);
  }
};

}  // namespace

TEST_CASE("the fastest of several candidates wins on new inputs, a broken one is named",
          "[contest][slow]") {
  Contest fixture;
  const auto incumbent = fixture.candidate(passes(24));
  const auto fast = fixture.candidate(passes(1));
  const auto slow = fixture.candidate(passes(48));
  const auto wrong = fixture.candidate(doubling_source("for (int i = 0; i < n; ++i) y[i] = x[i];"));
  ContestRequest request;
  request.incumbent = &incumbent;
  request.candidates = {&slow, &wrong, &fast};
  request.confirm = 1;

  const auto report = fixture.lab->contest(fixture.contract, request, "secret", fixture.call);

  if (!report) FAIL(report.error().message);
  REQUIRE(report->rows.size() == 3);
  CHECK(report->champion == 2);
  CHECK(report->rows[2].confirmed->verdict == Verdict::faster);
  CHECK(report->rows[0].status == "screened");
  CHECK(report->rows[0].screened < 1);
  CHECK(report->rows[1].status == "failed");
}

TEST_CASE("when no candidate beats it the incumbent stays", "[contest][slow]") {
  Contest fixture;
  const auto incumbent = fixture.candidate(passes(2));
  const auto slow = fixture.candidate(passes(48));
  ContestRequest request;
  request.incumbent = &incumbent;
  request.candidates = {&slow};

  const auto report = fixture.lab->contest(fixture.contract, request, "secret", fixture.call);

  REQUIRE(report);
  CHECK_FALSE(report->champion);
  CHECK(report->rows[0].confirmed->verdict == Verdict::slower);
}

TEST_CASE("a contest without candidates says how many it takes", "[contest]") {
  Contest fixture;
  const auto incumbent = fixture.candidate(passes(1));
  ContestRequest request;
  request.incumbent = &incumbent;

  const auto report = fixture.lab->contest(fixture.contract, request, "secret", fixture.call);

  REQUIRE_FALSE(report);
  CHECK(report.error().message == "candidates: 0 given, 1 to 8 can be compared in one call");
}
