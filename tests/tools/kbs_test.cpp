#include <catch2/catch_test_macros.hpp>

#include "tests/support/workbench.h"

namespace ratchet {
namespace {

TEST_CASE("grep_kbs finds lines with their page, place and neighbours", "[kbs]") {
  test::Workbench bench;

  const Json found =
      bench.must("grep_kbs", {{"pattern", "bank conflict"}, {"scope", "wiki"}, {"limit", 3}});

  REQUIRE_FALSE(found.at("hits").empty());
  CHECK(found.at("hits").size() <= 3);
  const Json& hit = found.at("hits").at(0);
  CHECK(hit.at("line") > 0);
  CHECK(hit.at("text").get<std::string>().find("bank conflict") != std::string::npos);
  CHECK_FALSE(bench.must("get_kbs_page", {{"id", hit.at("id")}}).at("text").empty());
}

TEST_CASE("grep_kbs takes one scope or several, and names a wrong one", "[kbs]") {
  test::Workbench bench;
  const auto total = [&](const Json& scope) {
    return bench.must("grep_kbs", {{"pattern", "warp"}, {"scope", scope}}).at("total").get<int>();
  };

  CHECK(total("wiki") > 0);
  CHECK(total({"wiki", "docs"}) >= total("wiki"));
  const auto refused = bench.call("grep_kbs", {{"pattern", "warp"}, {"scope", "attic"}});
  CHECK(refused.is_error);
  CHECK(refused.text.find("attic") != std::string::npos);
}

}  // namespace
}  // namespace ratchet
