// Where a version's time depends on its inputs' values, its speed-ups are about other values than
// its median.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::text_of;
using samples::Workshop;

/// A finished run whose v1 was judged on these values.
Workshop judged_on_values(const std::string& values) {
  Workshop shop(samples::contract(1));
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.submit(samples::kernel_text(1));
  shop.check();
  const auto granted = shop.permit(Event::profiled);
  auto profile = samples::profile(granted, 800, 1.25, Verdict::faster);
  profile.time_depends_on_values = ValueRange{"normal", "large", {800}, {2000}, values};
  REQUIRE(shop.runs().record_profile(granted, profile));
  shop.write_evidence();
  shop.write_hypothesis();
  REQUIRE(shop.gate(true).passed);
  REQUIRE(shop.runs().write_report(shop.run, ""));
  return shop;
}

TEST_CASE("a speed-up on other values than the median's says so, in status and reports",
          "[runs][render]") {
  const auto shop = judged_on_values("large");

  CHECK(shop.status().versions.at(1).judged_on == "large");
  CHECK(shop.status().versions.at(1).text().find("1.25x v0 (on large values)") !=
        std::string::npos);
  for (const char* name : {"final_report.md", "report.html"}) {
    INFO(name);
    CHECK(text_of(shop.out() / name).find("1.25 (1.24 … 1.26), on large values") !=
          std::string::npos);
  }
}

TEST_CASE("a speed-up on the median's values names none", "[runs][render]") {
  const auto shop = judged_on_values("normal");

  CHECK_FALSE(shop.status().versions.at(1).judged_on);
  CHECK(text_of(shop.out() / "final_report.md").find("on normal values") == std::string::npos);
}

}  // namespace
}  // namespace ratchet
