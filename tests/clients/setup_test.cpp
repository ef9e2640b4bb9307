// `ratchet setup` with the real clients beside it, which read what it wrote and connect.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "server/core/files.h"
#include "tests/clients/installed.h"

namespace ratchet::test {
namespace {

std::string ran(const Newcomer& person, const std::vector<std::string>& argv) {
  const auto done = person.run(argv);
  INFO(done.out << done.err);
  REQUIRE(done.status.clean());
  return done.out;
}

TEST_CASE("Claude Code connects to the server that setup wrote, and forgets it", "[npm]") {
  const std::string claude = installed("claude");
  const Newcomer person;
  const auto file = person.home() / ".claude.json";
  CHECK(ran(person, {server_program(), "setup", "claude"}).find("connected") != std::string::npos);
  CHECK(ran(person, {claude, "mcp", "get", "ratchet"}).find("Connected") != std::string::npos);

  // Claude Code writes the whole file anew.
  ran(person, {claude, "mcp", "add", "-s", "user", "other", "--", "/bin/cat"});
  ran(person, {server_program(), "setup", "claude", "--undo"});
  const Json left = Json::parse(read_file(file).value_or(""));
  CHECK(left["mcpServers"].size() == 1);
  CHECK(left["mcpServers"].contains("other"));
}

TEST_CASE("Codex reads the server that setup wrote, connects, and forgets it", "[npm]") {
  const std::string codex = installed("codex");
  const Newcomer person;
  const auto file = person.home() / ".codex/config.toml";
  const std::string before = "# mine\nmodel = \"x\"\n";
  REQUIRE(write_file(file, before));
  CHECK(ran(person, {server_program(), "setup", "codex"}).find("the entry is read") !=
        std::string::npos);
  const Json entry = Json::parse(ran(person, {codex, "mcp", "get", "ratchet", "--json"}));
  CHECK(entry["tool_timeout_sec"] == 3660);
  CHECK(entry["transport"]["command"] == server_program().string());
  {
    LineProgram app(person, {codex, "app-server"});
    app.send({{"id", 1},
              {"method", "initialize"},
              {"params", {{"clientInfo", {{"name", "t"}, {"title", "T"}, {"version", "1"}}}}}});
    app.receive();
    app.send({{"method", "initialized"}});
    app.send({{"id", 2}, {"method", "mcpServerStatus/list"}, {"params", Json::object()}});
    Json listed = Json::object();
    while (listed.is_object() && listed.value("id", Json()) != Json(2))
      listed = app.receive(std::chrono::seconds(60));
    REQUIRE(listed.is_object());
    CHECK(listed["result"]["data"][0]["tools"].size() == tool_names().size());
  }
  ran(person, {server_program(), "setup", "codex", "--undo"});
  CHECK(read_file(file).value_or("") == before);
}

// A configuration that only the client itself can judge wrong: setup takes its entry out again.
TEST_CASE("an entry that Codex does not accept is taken out again", "[npm]") {
  installed("codex");
  const Newcomer person;
  const auto file = person.home() / ".codex/config.toml";
  const std::string before = "model = 5\n";
  REQUIRE(write_file(file, before));
  const auto done = person.run({server_program(), "setup", "codex"});
  INFO(done.out << done.err);
  CHECK(done.status.code == 1);
  CHECK(done.err.find("codex does not accept the entry") != std::string::npos);
  CHECK(read_file(file).value_or("") == before);
}

}  // namespace
}  // namespace ratchet::test
