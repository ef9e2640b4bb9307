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

TEST_CASE("query_kbs refuses filter values that nothing has, with the valid ones", "[kbs]") {
  test::Workbench bench;
  const auto text = [&](const char* field, const char* value) {
    return bench.call("query_kbs", {{"query", "bandwidth"}, {field, value}}).text;
  };
  CHECK(text("kind", "nonsense").find("kind: nothing in the knowledge base has the value") !=
        std::string::npos);
  CHECK(text("kind", "nonsense").find("pattern") != std::string::npos);
  CHECK(text("language", "host-cpp").find("cuda-cpp") != std::string::npos);
  CHECK(text("kind", "patern").find("Did you mean pattern?") != std::string::npos);
  CHECK_FALSE(bench.call("query_kbs", {{"query", "bandwidth"}, {"kind", "pattern"}}).is_error);
  CHECK_FALSE(
      bench.call("query_kbs", {{"query", "loads"}, {"language", {"cuda-cpp", "triton"}}}).is_error);
}

TEST_CASE("lookup_spec names what the product has when a metric is unknown", "[kbs]") {
  test::Workbench bench;
  const Json found =
      bench.must("lookup_spec", {{"product", "H200"}, {"metric", "memory bandwidth"}});
  CHECK(found.at("unknown").get<std::string>().find("UNKNOWN (gpu-wiki not found)") !=
        std::string::npos);
  CHECK(found.at("metrics").at(0).get<std::string>().find("bandwidth") != std::string::npos);
  const Json known = bench.must("lookup_spec", {{"product", "H200"}, {"metric", "dram_bandwidth"}});
  CHECK_FALSE(known.contains("metrics"));
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
