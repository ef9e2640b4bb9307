#include <catch2/catch_test_macros.hpp>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::text_of;
using samples::Workshop;

/// The digest of v0 with these findings.
std::string digest(const Workshop& shop, std::vector<DiagnosisFinding> findings) {
  shop.check();
  const auto granted = shop.permit(Event::profiled);
  auto profile = samples::profile(*granted.candidate, 1000);
  profile.bound_evidence =
      "8 of 10 GB/s; dominant stall barrier (90 % of waiting); confidence high";
  profile.findings = std::move(findings);
  REQUIRE(shop.runs().record_profile(granted, profile));
  return text_of(shop.out() / "v0/digest.md");
}

TEST_CASE("the digest of a profile ends with the edits worth trying", "[runs][render]") {
  const Workshop shop;
  const auto text = digest(shop, {{"pattern-barrier-stalls",
                                   "Warps wait",
                                   "barrier = 9",
                                   0.5,
                                   "barrier",
                                   Confidence::high,
                                   {"reduce_sync_count"}}});
  std::size_t at = 0;
  for (const char* heading :
       {"# Profile Digest", "## Environment", "## Headline", "## Evidence", "## Source Hotspots",
        "## PTX/SASS Analysis", "## Inference Chain", "## Next Concrete Edit"}) {
    INFO(heading);
    const auto found = text.find(std::string(heading) + "\n", at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  CHECK(text.find("| Dominant stall | barrier (90 % of waiting) |") != std::string::npos);
  CHECK(text.find("| 1 | Warps wait | reduce_sync_count | 50 | high | barrier |", at) !=
        std::string::npos);
}

TEST_CASE("a digest without findings proposes no edit", "[runs][render]") {
  const Workshop shop;
  CHECK(digest(shop, {}).ends_with("None: no rule matched these metrics.\n"));
}

}  // namespace
}  // namespace ratchet
