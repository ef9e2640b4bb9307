// The MCP Inspector's command line, in both eras of the protocol.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "tests/clients/installed.h"

namespace ratchet::test {
namespace {

struct Place {
  Newcomer person;
  std::unique_ptr<HttpServer> http;

  explicit Place(bool over_http)
      : http(over_http ? std::make_unique<HttpServer>(person) : nullptr) {}

  [[nodiscard]] Captured inspect(const std::string& era, std::vector<std::string> more) const {
    std::vector<std::string> argv{installed("mcp-inspector"), "--cli"};
    if (http)
      argv.push_back(http->url());
    else
      argv.insert(argv.end(), {server_program(), "serve"});
    argv.insert(argv.end(), {"--protocol-era", era, "--format", "json"});
    argv.insert(argv.end(), more.begin(), more.end());
    return person.run(argv);
  }
};

Json result_of(const Captured& run) {
  INFO(run.out << run.err);
  REQUIRE(run.status.clean());
  const Json answer = Json::parse(run.out, nullptr, false);
  REQUIRE(answer.is_object());
  return answer.value("result", answer);
}

TEST_CASE("the Inspector accepts the tools' schemas", "[npm]") {
  const Place place(GENERATE(false, true));
  const auto run =
      place.inspect(GENERATE("legacy", "modern"), {"--method", "tools/list", "--strict"});

  const Json listed = result_of(run);
  CHECK(run.err.find("Warning:") == std::string::npos);
  std::set<std::string> seen;
  for (const auto& tool : listed["tools"]) seen.insert(tool["name"]);
  CHECK(seen == tool_names());
}

TEST_CASE("the Inspector calls a tool, reads a page and gets a prompt", "[npm]") {
  const Place place(GENERATE(false, true));
  const std::string era = GENERATE("legacy", "modern");

  const Json called = result_of(place.inspect(
      era, {"--method", "tools/call", "--tool-name", "query_kbs", "--tool-arg", "query=roofline"}));
  const Json& pages = called["structuredContent"]["results"];
  REQUIRE(pages.size() > 0);
  CHECK(result_of(place.inspect(era, {"--method", "prompts/list"}))["prompts"].size() == 3);
  const Json templates =
      result_of(place.inspect(era, {"--method", "resources/templates/list"}))["resourceTemplates"];
  CHECK(templates.size() > 0);
}

}  // namespace
}  // namespace ratchet::test
