#include "kbs/documents/json_record.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace ratchet {
namespace {

constexpr std::string_view kCard = R"({
  "schema": "any", "id": "vendor.chip.lang.card.tiles", "type": "technique-card",
  "retrieval": {"scope": {"arch": "hopper", "dsl": "cuda", "operators": ["gemm"]},
                "technique_tags": ["tiling"], "triggers": ["when tiles are small"],
                "signals": {"symptoms": ["idle-tail"], "bottleneck": "latency"}},
  "payload": {"technique": "Bigger tiles", "what": "Okapi tiles.", "caveats": ["More registers."],
              "implementation": {"snippet": "for (int i;;) {}\nstep();", "format": "source"}},
  "evidence": {"summary": {"confidence": "measured"}, "raw": {"source_repo": "secret-zebra"}}})";

TEST_CASE("a JSON record becomes a page labeled by its retrieval fields") {
  const auto card = kbs::read_json_record(kCard, "records/card.json");
  REQUIRE(card);
  CHECK(card->id == "vendor.chip.lang.card.tiles");
  CHECK(card->title == "Bigger tiles");
  CHECK(card->kind == "technique-card");
  CHECK(card->confidence == "measured");
  REQUIRE(card->architectures.size() == 1);
  CHECK(card->architectures[0].name == "sm90");
  CHECK(card->languages == std::vector<std::string>{"cuda"});
  CHECK(card->description.find("## Caveats\n\n- More registers.") != std::string::npos);
  CHECK(card->description.find("secret-zebra") == std::string::npos);
  CHECK(card->has_code);
}

}  // namespace
}  // namespace ratchet
