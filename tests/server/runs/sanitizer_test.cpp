// Findings of compute-sanitizer are recorded and rendered, and never change a stage.

#include <catch2/catch_test_macros.hpp>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::text_of;
using samples::Workshop;

SanitizerReport report_of(const Candidate& candidate) {
  SanitizerReport report;
  report.dims = {{"n", 1024}};
  report.runs = {{SanitizerTool::memcheck, true, 2, "", 400},
                 {SanitizerTool::racecheck, false, 0, "timeout: ran past its deadline", 300'000}};
  report.findings = {{SanitizerTool::memcheck, "error", "Invalid __global__ write", "work(float *)",
                      "kernel.cu", 5, "by thread (31,0,0) | block", 2}};
  report.sandbox = "seccomp, Landlock";
  report.candidate_digest = candidate.build.binary_digest;
  return report;
}

TEST_CASE("a sanitizer's report becomes an artifact and changes no stage", "[runs]") {
  const Workshop shop;
  const auto granted = shop.permit(Event::sanitized);

  const auto written = shop.runs().record_sanitizer(granted, report_of(*granted.candidate));

  REQUIRE(written);
  CHECK(written->artifacts.at(0).ends_with("v0/sanitizer.md"));
  const auto text = text_of(shop.out() / "v0/sanitizer.md");
  CHECK(text.find("kernel.cu:5") != std::string::npos);
  CHECK(text.find("Invalid __global__ write") != std::string::npos);
  CHECK(text.find("ran past its deadline") != std::string::npos);
  const auto status = shop.runs().status(shop.run);
  REQUIRE(status);
  CHECK(status->stage == Stage::built);
  CHECK(status->integrity.empty());
  shop.check();  // a permit for a check given before stays valid
}

TEST_CASE("a sanitizer's report on another binary is refused", "[runs]") {
  const Workshop shop;
  const auto granted = shop.permit(Event::sanitized);
  auto report = report_of(*granted.candidate);
  report.candidate_digest = "another";

  CHECK(shop.runs().record_sanitizer(granted, report).error().code == ErrorCode::conflict);
}

}  // namespace
}  // namespace ratchet
