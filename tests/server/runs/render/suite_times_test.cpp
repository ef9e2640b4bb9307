// Times that a suite has of its own, in the artifacts.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

#include "server/facts/suite_baselines.h"
#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::text_of;
using samples::Workshop;

TEST_CASE("a time of the suite's own is in the report as theirs, and in no headline",
          "[runs][render]") {
  const auto reported = [](std::vector<std::string> notes) {
    Workshop shop(samples::contract(1));
    shop.finish_v0();
    REQUIRE(shop.gate().passed);
    shop.finish_version(1, 1.25);
    REQUIRE(shop.gate(true).passed);
    const auto granted = shop.permit(Event::benchmarked);
    auto report = samples::benchmark(*granted.candidate, 800);
    report.notes = std::move(notes);
    REQUIRE(shop.runs().record_benchmark(granted, report));
    REQUIRE(shop.runs().write_report(shop.run, "Done."));
    return std::pair{text_of(shop.out() / "final_report.md"), text_of(shop.out() / "summary.md")};
  };
  const auto with = reported({std::string(kSuiteFigure) + "4321 ms: Accelerator A"});
  const auto without = reported({});

  CHECK(with.first.find("Time of the suite's own: " + std::string(kSuiteFigure) +
                        "4321 ms: Accelerator A") != std::string::npos);
  CHECK(without.first.find("suite's own") == std::string::npos);
  CHECK(with.second.find("4321") == std::string::npos);
  CHECK(with.first.find("4321") == with.first.rfind("4321"));
}

}  // namespace
}  // namespace ratchet
