#include "server/mcp/http/header_match.h"

#include <catch2/catch_test_macros.hpp>
#include <map>

namespace ratchet::mcp {
namespace {

std::optional<RpcError> mirrored(const std::map<std::string, std::string>& headers,
                                 const Json& arguments) {
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

TEST_CASE("headers that mirror arguments must equal them", "[mirror]") {
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
