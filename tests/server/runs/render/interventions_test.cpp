// What interventions said about findings, in the final report.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::text_of;
using samples::Workshop;

TEST_CASE("the final report lists what interventions said, and nothing where none was timed",
          "[runs][render]") {
  const auto report_with = [](std::vector<DiagnosisFinding> findings) {
    const Workshop shop(samples::contract(1));
    shop.check();
    const auto granted = shop.permit(Event::profiled);
    auto profile = samples::profile(*granted.candidate, 1000);
    profile.findings = std::move(findings);
    REQUIRE(shop.runs().record_profile(granted, profile));
    shop.write_evidence();
    shop.write_hypothesis();
    REQUIRE(shop.gate().passed);
    shop.finish_version(1);
    REQUIRE(shop.gate(true).passed);
    REQUIRE(shop.runs().write_report(shop.run, ""));
    return text_of(shop.out() / "final_report.md");
  };
  DiagnosisFinding grid{.id = "pattern-small-grid", .title = "The grid is small"};
  CHECK(report_with({grid}).find("## Findings by Intervention") == std::string::npos);
  grid.outcome = FindingOutcome::confirmed;
  grid.intervention = "rows halved saves only 2 % (0..4)";
  DiagnosisFinding low{.id = "pattern-low-achieved-occupancy", .title = "Registers limit"};
  low.outcome = FindingOutcome::not_confirmed;
  low.intervention = "half of the resident blocks cost 1 % (-1..3)";
  const auto text = report_with({grid, low});
  CHECK(text.find("## Findings by Intervention\n") != std::string::npos);
  CHECK(text.find("| v0 | The grid is small | confirmed | rows halved saves only 2 % (0..4) |") !=
        std::string::npos);
  CHECK(text.find("| v0 | Registers limit | not confirmed | half of the resident blocks cost 1 % "
                  "(-1..3) |") != std::string::npos);
}

}  // namespace
}  // namespace ratchet
