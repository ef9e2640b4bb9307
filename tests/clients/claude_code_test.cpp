// Claude Code, without an account: registers the server, connects, and lists its tools.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "tests/clients/installed.h"

namespace ratchet::test {
namespace {

/// Registers the server for stdio or HTTP, as the documentation describes.
void add(const Newcomer& person, const std::string& claude, const HttpServer* http) {
  std::vector<std::string> argv{claude, "mcp", "add"};
  if (http != nullptr)
    argv.insert(argv.end(), {"--transport", "http", "ratchet", http->url()});
  else
    argv.insert(argv.end(), {"ratchet", "--", server_program(), "serve"});
  const auto added = person.run(argv);
  INFO(added.out << added.err);
  REQUIRE(added.status.clean());
}

TEST_CASE("Claude Code connects over stdio and HTTP", "[npm]") {
  const std::string claude = installed("claude");
  const bool over_http = GENERATE(false, true);
  const Newcomer person;
  const auto http = over_http ? std::make_unique<HttpServer>(person) : nullptr;
  add(person, claude, http.get());
  const auto checked = person.run({claude, "mcp", "get", "ratchet"});

  INFO(checked.out << checked.err);
  CHECK(checked.out.find("Connected") != std::string::npos);
}

// The first line of a session lists the tools, before it contacts a model. The model's address is a
// closed port of this machine, so that the session ends there.
TEST_CASE("Claude Code lists every tool over stdio and HTTP", "[npm]") {
  const std::string claude = installed("claude");
  const bool over_http = GENERATE(false, true);
  const Newcomer person;
  const auto http = over_http ? std::make_unique<HttpServer>(person) : nullptr;
  add(person, claude, http.get());
  const auto session =
      person.run({claude, "-p", "--output-format", "stream-json", "--verbose", "hello"},
                 {"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=http://127.0.0.1:9",
                  "CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"});

  INFO(session.out << session.err);
  const Json first = Json::parse(session.out.substr(0, session.out.find('\n')), nullptr, false);
  REQUIRE(first.is_object());
  const std::string prefix = "mcp__ratchet__";
  std::set<std::string> seen;
  for (const auto& tool : first.value("tools", Json::array()))
    if (const auto name = tool.get<std::string>(); name.starts_with(prefix))
      seen.insert(name.substr(prefix.size()));
  CHECK(seen == tool_names());
}

}  // namespace
}  // namespace ratchet::test
