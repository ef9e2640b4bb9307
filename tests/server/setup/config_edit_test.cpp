#include "server/setup/config_edit.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>
#include <utility>

#include "server/core/fields.h"

namespace ratchet::setup {
namespace {

using enum Format::Syntax;

const Format kJson{json, "mcpServers"};
const Format kCommented{json_with_comments, "servers"};
const Format kToml{toml, "mcp_servers"};

Json entry() {
  return {{"command", "/opt/ratchet"}, {"args", {"serve", "--root", "/srv/me"}}};
}

std::string with_entry(const Format& format, const std::string& text) {
  const auto insertion = insertion_into(format, text, "ratchet", entry());
  INFO((insertion ? "" : insertion.error().message));
  REQUIRE(insertion);
  return insertion->applied_to(text);
}

std::string refusal(const Format& format, const std::string& text) {
  const auto found = entry_in(format, text, "ratchet");
  CHECK_FALSE(insertion_into(format, text, "ratchet", entry()));
  REQUIRE_FALSE(found);
  return found.error().message;
}

TEST_CASE("a server is added to JSON of any layout, and nothing else changes", "[setup]") {
  const std::string text =
      GENERATE("{}", "{\n}\n", "{\"mcpServers\":{}}", "{\"mcpServers\": {\"a\": {\"x\": [1,2]}}}",
               "{\n  \"z\": 1.50,\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n",
               "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n",
               "\xEF\xBB\xBF{ \"é\\u00e9\": \"}{,\\\"\" }");
  const auto after = with_entry(kJson, text);

  INFO(after);
  Json parsed = Json::parse(after);
  const Json earlier = Json::parse(text);
  CHECK(parsed["mcpServers"]["ratchet"] == entry());
  parsed["mcpServers"].erase("ratchet");
  if (!earlier.contains("mcpServers")) parsed.erase("mcpServers");
  CHECK(parsed == earlier);
  // Whatever stood there stands there still, in its order.
  std::size_t at = 0;
  for (const char c : text) {
    at = after.find(c, at);
    REQUIRE(at != std::string::npos);
    ++at;
  }
  CHECK((text.find("\r\n") == std::string::npos ||
         after.find("{\r\n\t\t\"ratchet\"") != std::string::npos));
}

TEST_CASE("a file that does not exist becomes one with a server", "[setup]") {
  CHECK(Json::parse(with_entry(kJson, ""))["mcpServers"]["ratchet"] == entry());
  CHECK(with_entry(kToml, "") ==
        "[mcp_servers.ratchet]\nargs = [\"serve\", \"--root\", \"/srv/me\"]\n"
        "command = \"/opt/ratchet\"\n");
}

TEST_CASE("comments and commas before a brace are kept where the client allows them", "[setup]") {
  const std::string text =
      "{ // mine\n  /* all */ \"servers\": { // of the team\n"
      "    \"a\": {}, // the first\n  },\n}\n";
  CHECK(with_entry(kCommented, text) ==
        "{ // mine\n  /* all */ \"servers\": { // of the team\n"
        "    \"ratchet\": {\n      \"args\": [\n        \"serve\",\n        \"--root\",\n"
        "        \"/srv/me\"\n      ],\n      \"command\": \"/opt/ratchet\"\n    },\n"
        "    \"a\": {}, // the first\n  },\n}\n");
  CHECK(refusal({json, "servers"}, text) ==
        "line 1, column 3: a comment; this client reads JSON without comments");
  CHECK(refusal({json, "servers"}, "{\"servers\": {},\n }") ==
        "line 1, column 15: a comma with nothing after it");
}

TEST_CASE("what others rearranged around an entry stays when it is taken out", "[setup]") {
  const auto [before, after] =
      GENERATE(std::pair{R"({"mcpServers":{"ratchet":{"command":"x"},"a":{}}})",
                         R"({"mcpServers":{"a":{}}})"},
               std::pair{R"({"mcpServers":{"a":{},"ratchet":{"command":"x"}}})",
                         R"({"mcpServers":{"a":{}}})"},
               std::pair{R"({"mcpServers":{"ratchet":{"command":"x"}},"b":1})", R"({"b":1})"},
               std::pair{"{\"b\": 1,\n \"mcpServers\": {\"ratchet\": {}}\n}", "{\"b\": 1\n}"});
  const auto removed = removed_from(kJson, before, "ratchet", true);
  REQUIRE(removed);
  CHECK(*removed == after);
}

TEST_CASE("malformed JSON is refused with its place", "[setup]") {
  const auto [text, message] = GENERATE(
      std::pair{"{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: expected , or }"},
      std::pair{"{\"a\": tru}", "line 1, column 7: tru is not a value"},
      std::pair{"{\"ä\": 01}", "line 1, column 7: 01 is not a value"},
      std::pair{"{\"a\": \"x\ny\"}", "line 1, column 7: a string that does not end"},
      std::pair{"{\"a\": \"\\q\"}", "line 1, column 7: not a valid string"},
      std::pair{"{\"a\": [1, 2}", "line 1, column 12: expected , or ]"},
      std::pair{"{\"a\": {}", "line 1, column 9: expected , or }"},
      std::pair{"{} {}", "line 1, column 4: expected the end of the file"},
      std::pair{"[]", "line 1, column 1: expected an object, { … }"},
      std::pair{"{\"a\": 1, \"a\": 2}", "line 1, column 10: \"a\" stands here a second time"},
      std::pair{"{\"mcpServers\": []}", "line 1, column 16: \"mcpServers\" is not an object"});
  CHECK(refusal(kJson, text) == message);
  CHECK(refusal(kJson, std::string(5000, '[')).find("nested too deeply") != std::string::npos);
}

TEST_CASE("a server is added to TOML as a table at its end", "[setup]") {
  const std::string text =
      GENERATE("", "# mine\nmodel = \"x\"  # best\n", "[mcp_servers.a]\ncommand = 'x'\n",
               "a.\"b c\".'d' = [1, 2.5e3, # two\n  'x', [true], {k = 1979-05-27 07:32:00Z, l.m = "
               "+inf},\n]\n"
               "s = \"\"\"one \\\n   \\u00e9 \"two\" \"\"\"\"\nt = '''it's'''\n[[x]]\ny = "
               "0xFF\n[[x]]\ny = 1_000",
               "[mcp_servers]\n[mcp_servers.\"b\".env]\nA = \"1\"\r\n");
  const auto after = with_entry(kToml, text);

  CHECK(after.starts_with(text));
  CHECK(after.find("[mcp_servers.ratchet]\n") != std::string::npos);
  CHECK(entry_in(kToml, after, "ratchet").value_or(std::nullopt));
  const auto removed = removed_from(kToml, after + "\n[z]\nq = 1\n", "ratchet", false);
  REQUIRE(removed);
  CHECK(removed->find("ratchet") == std::string::npos);
  CHECK(removed->starts_with(text));
  CHECK(removed->ends_with("\n[z]\nq = 1\n"));
}

TEST_CASE("an entry of a TOML file is found however it is written", "[setup]") {
  const std::string text =
      GENERATE("[mcp_servers.ratchet]\ncommand = 'x'\n", "[mcp_servers]\nratchet.command = 'x'\n",
               "[ mcp_servers . 'ratchet' ]\ncommand = 'x'\n",
               "mcp_servers.ratchet = {command = 'x'}", "[mcp_servers.ratchet.env]\nA = 'b'\n");
  CHECK(entry_in(kToml, text, "ratchet").value_or(std::nullopt));
  CHECK_FALSE(entry_in(kToml, text, "other").value_or("failed"));
}

TEST_CASE("malformed TOML is refused with its place", "[setup]") {
  const auto [text, message] = GENERATE(
      std::pair{"a = 1\nb = x y\n", "line 2, column 5: x is not a value; text needs quotes"},
      std::pair{"a = \"x\n\"", "line 1, column 5: a string that does not end"},
      std::pair{"[a\nb = 1", "line 1, column 3: expected ]"},
      std::pair{"a = 1 b = 2", "line 1, column 7: expected the end of the line"},
      std::pair{"a = [1 2]", "line 1, column 8: expected , or ]"},
      std::pair{"a = {b = 1\n}", "line 1, column 11: expected , or } on the same line"},
      std::pair{"a = \"\\q\"", "line 1, column 7: an unknown escape"},
      std::pair{"a = 012", "line 1, column 5: 012 is not a value; text needs quotes"},
      std::pair{"é = 1", "line 1, column 1: expected a key"},
      std::pair{"[a]\nb = 1\n[a]\n", "line 3, column 1: a stands here a second time"},
      std::pair{"x = 1\nmcp_servers = {}\n",
                "line 2, column 1: mcp_servers is written on one line or as a list, which nothing "
                "can be added to; write each server as a table of its own, [mcp_servers.NAME]"});
  CHECK(refusal(kToml, text) == message);
}

}  // namespace
}  // namespace ratchet::setup
