// The plugin, judged by the clients it is for: Claude Code's own validator, and what Codex finds
// once it is installed. Codex has no validator of its own.

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "tests/clients/installed.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;

/// The plugin as the bundle lays it out, without the programs.
fs::path plugin_of(const Newcomer& person) {
  const auto folder = person.home() / "plugin";
  fs::copy(source_dir() / "skill", folder, fs::copy_options::recursive);
  return folder;
}

/// As clients call them: "ratchet:kernel-loop".
std::set<std::string> skill_names() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(source_dir() / "skill/skills"))
    names.insert("ratchet:" + entry.path().filename().string());
  return names;
}

TEST_CASE("Claude Code's validator accepts the plugin and finds its skills", "[npm]") {
  const std::string claude = installed("claude");
  const Newcomer person;
  const auto judged =
      person.run({claude, "plugin", "validate", "--strict", "--json", plugin_of(person).string()});

  INFO(judged.out << judged.err);
  CHECK(judged.status.clean());
  const Json report = Json::parse(judged.out, nullptr, false);
  REQUIRE(report.is_object());
  CHECK(report.at("provides").at("skills").get<std::set<std::string>>() == skill_names());
  CHECK(report.at("provides").at("mcpServers").at(0).at("name") == "ratchet");
}

TEST_CASE("Claude Code's validator refuses the plugin once its manifest is broken", "[npm]") {
  const std::string claude = installed("claude");
  const Newcomer person;
  const auto plugin = plugin_of(person);
  fs::copy_file(source_dir() / "skill/.claude-plugin/marketplace.json",
                plugin / ".claude-plugin/plugin.json", fs::copy_options::overwrite_existing);

  CHECK_FALSE(
      person.run({claude, "plugin", "validate", "--strict", plugin.string()}).status.clean());
}

TEST_CASE("Codex installs the plugin and offers its skills", "[npm]") {
  const std::string codex = installed("codex");
  const Newcomer person;
  for (const auto& words : {std::vector<std::string>{"marketplace", "add", plugin_of(person)},
                            std::vector<std::string>{"add", "ratchet@ratchet"}}) {
    std::vector<std::string> argv{codex, "plugin"};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto done = person.run(argv);
    INFO(done.out << done.err);
    REQUIRE(done.status.clean());
  }
  LineProgram app(person, {codex, "app-server"});
  app.send({{"id", 1},
            {"method", "initialize"},
            {"params", {{"clientInfo", {{"name", "t"}, {"title", "T"}, {"version", "1"}}}}}});
  app.receive();
  app.send({{"method", "initialized"}});
  app.send({{"id", 2}, {"method", "skills/list"}, {"params", Json::object()}});
  Json listed = Json::object();
  while (listed.is_object() && listed.value("id", Json()) != Json(2)) listed = app.receive();
  REQUIRE(listed.is_object());

  std::set<std::string> seen;
  for (const auto& place : listed["result"]["data"])
    for (const auto& skill : place["skills"])
      if (const auto name = skill["name"].get<std::string>(); name.starts_with("ratchet:"))
        seen.insert(name);
  CHECK(seen == skill_names());
}

}  // namespace
}  // namespace ratchet::test
