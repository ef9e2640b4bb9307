#include <catch2/catch_test_macros.hpp>

#include "tests/support/workbench.h"

namespace ratchet {
namespace {

TEST_CASE("grep_kbs finds lines with their page and location", "[kbs]") {
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

TEST_CASE("grep_kbs accepts one scope or several, and names an unknown one", "[kbs]") {
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

TEST_CASE("query_kbs with a run ranks for its language and reports it", "[kbs]") {
  test::Workbench bench;
  const std::string run = bench.start_run();

  const Json found = bench.must("query_kbs", {{"query", "vectorise the loop"}, {"run", run}});
  CHECK(found.at("note").get<std::string>().find("ranked for the run: cpp") != std::string::npos);
  const Json alone = bench.must("query_kbs", {{"query", "vectorise the loop"}});
  CHECK_FALSE(alone.contains("note"));
  CHECK(bench.call("query_kbs", {{"query", "x"}, {"run", "no-such-run"}}).is_error);
}

}  // namespace
}  // namespace ratchet
