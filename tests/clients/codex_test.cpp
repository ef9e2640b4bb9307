// Codex, without an account: its app server lists and calls the tools of a registered server.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "tests/clients/installed.h"

namespace ratchet::test {
namespace {

/// `codex app-server` of a user who has registered the server.
class AppServer {
 public:
  AppServer(const Newcomer& person, const std::string& codex)
      : program_(person, {codex, "app-server"}) {
    request("initialize",
            {{"clientInfo", {{"name", "tests"}, {"title", "Tests"}, {"version", "1"}}}});
    program_.send({{"method", "initialized"}});
  }

  /// The result of a request; skips other messages.
  Json request(const std::string& method, Json params) {
    const int id = ++requests_;
    program_.send({{"id", id}, {"method", method}, {"params", std::move(params)}});
    while (true) {
      Json message = program_.receive();
      INFO(method << " " << message.dump());
      REQUIRE(message.is_object());
      if (message.value("id", Json()) != Json(id) || message.contains("method")) continue;
      REQUIRE(message.contains("result"));
      return message["result"];
    }
  }

 private:
  LineProgram program_;
  int requests_ = 0;
};

TEST_CASE("Codex lists every tool and calls some over stdio and HTTP", "[npm]") {
  const std::string codex = installed("codex");
  const bool over_http = GENERATE(false, true);
  const Newcomer person;
  const auto http = over_http ? std::make_unique<HttpServer>(person) : nullptr;
  std::vector<std::string> add{codex, "mcp", "add", "ratchet"};
  if (http)
    add.insert(add.end(), {"--url", http->url()});
  else
    add.insert(add.end(), {"--", server_program(), "serve"});
  REQUIRE(person.run(add).status.clean());
  AppServer app(person, codex);

  std::set<std::string> seen;
  const Json listed = app.request("mcpServerStatus/list", Json::object());
  for (const auto& server : listed["data"])
    for (const auto& [name, tool] : server["tools"].items()) seen.insert(name);
  CHECK(seen == tool_names());

  const Json thread = app.request("thread/start", {{"ephemeral", true}})["thread"]["id"];
  const auto call = [&](const std::string& tool, const Json& arguments) {
    return app.request(
        "mcpServer/tool/call",
        {{"threadId", thread}, {"server", "ratchet"}, {"tool", tool}, {"arguments", arguments}});
  };
  const Json pages = call("query_kbs", {{"query", "shared memory bank conflicts"}});
  CHECK(pages["structuredContent"]["results"].size() > 0);
  const Json machine = call("check_env", Json::object());
  CHECK(machine["structuredContent"]["implementations"].size() > 0);
}

}  // namespace
}  // namespace ratchet::test
