// Rules that hold for every tool.

#include <catch2/catch_test_macros.hpp>
#include <regex>
#include <set>

#include "kernels/labs/lab_service.h"
#include "server/docs/reference.h"
#include "server/mcp/features/catalog.h"
#include "tests/support/places.h"
#include "tests/support/workbench.h"

namespace ratchet {
namespace {

/// The size of what tools/list sends to a model: names, descriptions and input schemas.
std::size_t model_visible_bytes(const std::vector<Tool>& tools) {
  std::size_t bytes = 0;
  for (const auto& tool : tools) {
    const auto entry = mcp::entry_of(tool);
    const Json seen{{"name", entry.at("name")},
                    {"description", entry.at("description")},
                    {"inputSchema", entry.at("inputSchema")}};
    bytes += seen.dump().size();
  }
  return bytes;
}

TEST_CASE("tool names are unique, short and lowercase", "[tools]") {
  test::Workbench bench;
  std::set<std::string> names;

  for (const auto& tool : bench.tools()) {
    INFO(tool.info.name);
    CHECK(std::regex_match(tool.info.name, std::regex("[a-z_]{1,40}")));
    CHECK(names.insert(tool.info.name).second);
    CHECK(tool.info.summary.size() < 2048);
    CHECK(tool.info.summary.ends_with("."));
  }
}

TEST_CASE("every schema is a closed object without combinators or conditionals at its root",
          "[tools]") {
  test::Workbench bench;

  for (const auto& tool : bench.tools())
    for (const Json& schema : {tool.input_schema, tool.output_schema}) {
      INFO(tool.info.name);
      CHECK(schema["type"] == "object");
      CHECK(schema["additionalProperties"] == false);
      for (const char* combinator : {"anyOf", "oneOf", "allOf", "if"})
        CHECK_FALSE(schema.contains(combinator));
    }
}

TEST_CASE("what a model reads to know the tools stays under 7,000 tokens", "[tools]") {
  test::Workbench bench;

  // Estimated at four bytes per token.
  CHECK(model_visible_bytes(useful_tools(bench.tools(), bench.services())) <= 7000 * 4);
  CHECK(model_visible_bytes(bench.tools()) <= 7000 * 4);  // with labs
}

TEST_CASE("where there are no labs, nothing about them is offered, and all else is", "[tools]") {
  test::Workbench bench;

  const auto offered = useful_tools(bench.tools(), bench.services());

  CHECK(offered.size() == bench.tools().size() - 1);
  for (const auto& tool : offered) {
    INFO(tool.info.name);
    CHECK(tool.info.name != "list_labs");
    for (const char* argument : {"lab", "max_lab_seconds", "max_cost"})
      CHECK_FALSE(tool.input_schema.at("properties").contains(argument));
  }
}

TEST_CASE("a listed output schema keeps every name and what is required", "[tools]") {
  test::Workbench bench;

  for (const auto& tool : bench.tools()) {
    INFO(tool.info.name);
    const auto listed = mcp::entry_of(tool).at("outputSchema");
    CHECK(listed.value("required", Json()) == tool.output_schema.value("required", Json()));
    for (const auto& [name, property] : tool.output_schema.at("properties").items()) {
      INFO(name);
      CHECK(listed.at("properties").at(name).value("type", "") == property.value("type", ""));
    }
    CHECK(listed.dump().find("\"description\":\"") == std::string::npos);
  }
}

TEST_CASE("schemas, docs/tools.md and skills say what the declarations say", "[tools]") {
  test::Workbench bench;

  const auto stale = stale_files(bench.tools(), lab_schemas(), test::source_dir());

  REQUIRE(stale);
  INFO("regenerate them with: ratchet docs --write");
  CHECK(*stale == std::vector<std::string>{});
}

}  // namespace
}  // namespace ratchet
