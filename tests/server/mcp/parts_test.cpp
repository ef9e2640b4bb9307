// The small pure parts: the catalogue, sealed state, mirrored headers, who may be served.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "server/mcp/catalogue.h"
#include "server/mcp/access_policy.h"
#include "server/mcp/header_match.h"
#include "server/mcp/request_state.h"
#include "tests/server/mcp/peers.h"

namespace ratchet::mcp {
namespace {

TEST_CASE("an old HTTP library is not served beyond this machine unless forced", "[http]") {
  const auto [version, refused] = GENERATE(table<std::string, bool>(
      {{"0.11.4", true}, {"0.40.9", true}, {"0.41.0", false}, {"0.53.1", false}, {"1.0", false}}));
  INFO(version);
  const HttpOptions open{.host = "0.0.0.0", .token = "secret"};
  const HttpOptions forced{.host = "0.0.0.0", .token = "secret", .force_old_library = true};

  CHECK(exposure_error(open, version).has_value() == refused);
  CHECK_FALSE(exposure_error(forced, version));
  CHECK_FALSE(exposure_error({.host = "127.0.0.2"}, version));
  CHECK(exposure_error({.host = "0.0.0.0", .force_old_library = true}, version));  // no token
}

TEST_CASE("beyond this machine, an address is a known Host and a foreign name is none", "[http]") {
  const HttpOptions options{.host = "0.0.0.0", .token = "secret", .allowed_hosts = {"gpu.example"}};
  const AccessPolicy door(options);
  const auto status = [&](const char* host) {
    const auto problem = door.host_problem(host, std::nullopt);
    return problem ? problem->status : 200;
  };
  CHECK(status("192.0.2.7:8383") == 200);
  CHECK(status("gpu.example:8383") == 200);
  CHECK(status("evil.example") == 403);
  CHECK(door.token_problem("")->status == 401);
  CHECK(door.token_problem("Bearer secret2")->status == 401);
  CHECK_FALSE(door.token_problem("bearer secret"));
}

Tool tool_of(Effect effect) {
  Tool tool;
  tool.info = {.name = "check_env", .summary = "Looks.", .effect = effect};
  return tool;
}

TEST_CASE("only tools that change nothing are marked as reading", "[catalogue]") {
  const auto hints = [](Effect effect) { return entry_of(tool_of(effect)).at("annotations"); };

  CHECK(hints(Effect::reads).at("readOnlyHint") == true);
  CHECK(hints(Effect::writes).at("readOnlyHint") == false);
  CHECK(hints(Effect::uses_device).at("readOnlyHint") == false);
  CHECK(hints(Effect::destroys).at("readOnlyHint") == false);
  CHECK(hints(Effect::destroys).at("destructiveHint") == true);
  CHECK(hints(Effect::writes).at("destructiveHint") == false);
  CHECK(hints(Effect::reads).at("openWorldHint") == false);
}

TEST_CASE("a tool's entry has a title, and asks for loading only when told", "[catalogue]") {
  Tool tool = tool_of(Effect::reads);
  CHECK(entry_of(tool).at("title") == "Check env");
  CHECK_FALSE(entry_of(tool).contains("_meta"));

  tool.info.always_load = true;
  CHECK(entry_of(tool).at("_meta").at("anthropic/alwaysLoad") == true);
}

TEST_CASE("a long list comes in pages that a cursor joins, in order", "[catalogue]") {
  std::vector<Json> entries;
  for (int i = 0; i < 5; ++i) entries.push_back({{"name", i}});
  const Identity identity("n", "", "1");
  const PagedList list("tools", [&] { return entries; }, 2, identity, {});

  std::vector<int> names;
  std::optional<std::string> cursor;
  do {
    const std::string* page = list.page(cursor, Era::legacy);
    REQUIRE(page != nullptr);
    const Json json = Json::parse(*page);
    for (const auto& tool : json.at("tools")) names.push_back(tool.at("name").get<int>());
    cursor.reset();
    if (json.contains("nextCursor")) cursor = json.at("nextCursor").get<std::string>();
  } while (cursor);
  CHECK(names == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("a cursor that was not given out is refused", "[catalogue]") {
  const Identity identity("n", "", "1");
  const PagedList list("tools", [] { return std::vector<Json>(3, Json::object()); }, 2, identity,
                       {});
  CHECK(list.page(cursor_of(2), Era::legacy) != nullptr);
  CHECK(list.page(cursor_of(0), Era::legacy) == nullptr);
  CHECK(list.page(cursor_of(1), Era::legacy) == nullptr);
  CHECK(list.page(cursor_of(4), Era::legacy) == nullptr);
  CHECK(list.page("YWZ0ZXI6LTI=", Era::legacy) == nullptr);  // "after:-2"
}

TEST_CASE("sealed state opens for its own request alone, and unharmed", "[state]") {
  const StateSeal seal;
  const std::string sealed = seal.seal({{"round", 2}}, "tools/call\nx");
  CHECK(seal.open(sealed, "tools/call\nx") == Json{{"round", 2}});
  CHECK_FALSE(seal.open(sealed, "tools/call\ny"));
  CHECK_FALSE(StateSeal().open(sealed, "tools/call\nx"));
  CHECK_FALSE(seal.open("", "tools/call\nx"));

  std::string harmed = sealed;
  harmed[3] = harmed[3] == 'A' ? 'B' : 'A';
  CHECK_FALSE(seal.open(harmed, "tools/call\nx"));
}

std::optional<RpcError> mirrored(const test::HeaderList& headers, const Json& arguments) {
  const Json schema = Json::parse(R"({"properties": {
    "region": {"type": "string", "x-mcp-header": "Region"},
    "count": {"type": "integer", "x-mcp-header": "Count"},
    "inner": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}}}})");
  Message message;
  message.method = "tools/call";
  message.params = {{"name", "t"}, {"arguments", arguments}};
  const auto lookup = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "Mcp-Method") return "tools/call";
    if (name == "Mcp-Name") return "=?base64?dA==?=";  // "t"
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional(found->second);
  };
  return header_mismatch(message, lookup, &schema);
}

TEST_CASE("mirrored arguments must equal their headers", "[mirror]") {
  CHECK_FALSE(mirrored({}, Json::object()));
  CHECK_FALSE(mirrored({{"Mcp-Param-Region", "us"}}, {{"region", "us"}}));
  CHECK_FALSE(mirrored({{"Mcp-Param-Region", "=?base64?w6k=?="}}, {{"region", "é"}}));
  CHECK_FALSE(mirrored({{"Mcp-Param-Count", "42.0"}}, {{"count", 42}}));
  CHECK_FALSE(mirrored({{"Mcp-Param-On", "true"}}, {{"inner", {{"on", true}}}}));
  CHECK_FALSE(mirrored({}, {{"region", nullptr}}));

  CHECK(mirrored({}, {{"region", "us"}}));
  CHECK(mirrored({{"Mcp-Param-Region", "eu"}}, {{"region", "us"}}));
  CHECK(mirrored({{"Mcp-Param-Region", "us"}}, Json::object()));
  CHECK(mirrored({{"Mcp-Param-Region", "=?base64?*?="}}, {{"region", "us"}}));
  CHECK(mirrored({{"Mcp-Param-On", "false"}}, {{"inner", {{"on", true}}}}));
}

}  // namespace
}  // namespace ratchet::mcp
