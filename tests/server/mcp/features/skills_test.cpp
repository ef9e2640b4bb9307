#include <catch2/catch_test_macros.hpp>

#include "tests/support/peers.h"

namespace ratchet::test {
namespace {

mcp::ServerOptions with_skill() {
  mcp::ServerOptions options = sample_options();
  options.skills.push_back({"skill://loop/SKILL.md",
                            {{"name", "loop"}, {"description", "How to work."}},
                            {{"skill://loop/SKILL.md", std::string(64, 'a'), 7}}});
  return options;
}

Json ask(mcp::Server& server, const std::string& method, Json params = Json::object()) {
  StdioPeer peer(server);
  peer.send(stateless(1, method, std::move(params)));
  return peer.receive();
}

TEST_CASE("skills are listed and fetched with their files and digests", "[skills]") {
  mcp::Server server(with_skill());
  const Json entry{{"uri", "skill://loop/SKILL.md"},
                   {"frontmatter", {{"name", "loop"}, {"description", "How to work."}}},
                   {"resources",
                    {{{"uri", "skill://loop/SKILL.md"},
                      {"digest", "sha256:" + std::string(64, 'a')},
                      {"size", 7}}}}};

  const Json listed = ask(server, "skills/list")["result"];
  CHECK(listed["skills"] == Json::array({entry}));
  CHECK(listed["cacheScope"] == "public");
  const Json fetched = ask(server, "skills/get", {{"uri", "skill://loop/SKILL.md"}})["result"];
  CHECK(fetched["skill"] == entry);
  CHECK(fetched.contains("ttlMs"));
}

TEST_CASE("an unknown skill is an invalid parameter", "[skills]") {
  mcp::Server server(with_skill());

  CHECK(ask(server, "skills/get", {{"uri", "skill://none/SKILL.md"}})["error"]["code"] == -32602);
  CHECK(ask(server, "skills/get")["error"]["code"] == -32602);
}

TEST_CASE("the skills extension is declared if there are skills", "[skills]") {
  mcp::Server with(with_skill());
  SampleServer without;

  const Json declared = ask(with, "server/discover")["result"]["capabilities"];
  CHECK(declared["extensions"] == Json{{"io.modelcontextprotocol/skills", Json::object()}});
  CHECK(ask(*without.server, "skills/list")["error"]["code"] == -32601);
}

}  // namespace
}  // namespace ratchet::test
