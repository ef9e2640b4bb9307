#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <regex>
#include <set>

#include "server/core/fields.h"
#include "tests/repo/tree.h"

namespace ratchet::repo {
namespace {

// The schemas of the tools: schemas/<tool>.json. Those of labs are in a folder below.
std::vector<std::string> tool_schemas() {
  auto found = files("schemas/", {".json"});
  std::erase_if(found, [](const auto& path) { return path.starts_with("schemas/labs/"); });
  return found;
}

std::set<std::string> tool_names() {
  std::set<std::string> names;
  for (const auto& path : tool_schemas()) names.insert(std::filesystem::path(path).stem().string());
  return names;
}

// Every name a schema declares: keys of "properties" and values of "enum", at any depth.
void collect_names(const Json& schema, std::set<std::string>& names) {
  if (schema.is_object() && schema.contains("properties"))
    for (const auto& [key, value] : schema["properties"].items()) names.insert(key);
  if (schema.is_object() && schema.contains("enum"))
    for (const auto& value : schema["enum"])
      if (value.is_string()) names.insert(value.get<std::string>());
  if (schema.is_structured())
    for (const auto& child : schema) collect_names(child, names);
}

std::set<std::string> declared_names() {
  std::set<std::string> names = tool_names();
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code)
    names.emplace(name_of(static_cast<ErrorCode>(code)));
  for (const auto& path : tool_schemas()) collect_names(Json::parse(text_of(path)), names);
  return names;
}

// Words of the form `snake_case`: names of tools, fields and values.
std::set<std::string> quoted_names(const std::string& text) {
  static const std::regex name("`([a-z]+(_[a-z0-9]+)+)`");
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), name), end; match != end; ++match)
    found.insert((*match)[1]);
  return found;
}

/// A skill without the words of other packages: the first column of its last table.
std::string own_words(const std::string& page) {
  std::string text;
  bool theirs = false;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with("## ")) theirs = line == "## Words of other packages";
    const bool row = theirs && line.starts_with("| ");
    text += (row ? line.substr(line.find(" | ")) : line) + "\n";
  }
  return text;
}

TEST_CASE("every name quoted in a skill is declared by the server", "[repo]") {
  const auto declared = declared_names();
  std::vector<std::string> unknown;
  for (const auto& path : files("skill/", {".md"}))
    for (const auto& name : quoted_names(own_words(path)))
      if (!declared.contains(name)) unknown.push_back(path + ": " + name);
  INFO(listed(unknown));
  CHECK(unknown.empty());
}

TEST_CASE("the skills mention every tool", "[repo]") {
  std::string text;
  for (const auto& path : files("skill/", {".md"})) text += text_of(path);
  const auto tools = tool_names();
  REQUIRE_FALSE(tools.empty());
  std::vector<std::string> unmentioned;
  for (const auto& tool : tools)
    if (text.find("`" + tool + "`") == std::string::npos) unmentioned.push_back(tool);
  INFO(listed(unmentioned));
  CHECK(unmentioned.empty());
}

TEST_CASE("a skill begins with its name and a description that clients can display", "[repo]") {
  for (const auto& path : files("skill/skills/", {"/SKILL.md"})) {
    INFO(path);
    const auto lines = lines_of(path);
    const auto folder = std::filesystem::path(path).parent_path().filename().string();
    REQUIRE(lines.size() > 3);
    CHECK(lines[0] == "---");
    CHECK(lines[1] == "name: " + folder);
    CHECK(lines[2].starts_with("description: "));
    CHECK(lines[2].size() <= 1024);  // the limit of the clients' skill format
    CHECK(lines[3] == "---");
    // The server reads front matter as plain lines, so it must contain no YAML syntax.
    CHECK(lines[2].find(": ", std::string("description: ").size()) == std::string::npos);
    CHECK(lines[2].find_first_of("#\"'[]{}&*!|>%@`") == std::string::npos);
  }
}

TEST_CASE("a skill is short, shows one example and names the words of other packages", "[repo]") {
  for (const auto& path : files("skill/skills/", {"/SKILL.md"})) {
    INFO(path);
    const auto lines = lines_of(path);
    const auto before_tools = std::ranges::find(lines, "## Tools") - lines.begin();
    CHECK(before_tools < 150);
    CHECK(std::ranges::count(lines, "## Example") == 1);
    CHECK(std::ranges::count(lines, "```calls") == 1);
    CHECK(std::ranges::count(lines, "## Words of other packages") == 1);
  }
}

TEST_CASE("the manifests of both clients lead to the six skills", "[repo]") {
  for (const auto* manifest :
       {"skill/.claude-plugin/plugin.json", "skill/.codex-plugin/plugin.json"})
    CHECK(Json::parse(text_of(manifest)).at("skills") == "./skills/");
  std::vector<std::string> names;
  for (const auto& path : files("skill/skills/", {"/SKILL.md"}))
    names.push_back(std::filesystem::path(path).parent_path().filename().string());
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"gpu-kernel-optimizer", "kernel-benchmark", "kernel-kbs",
                                          "kernel-loop", "kernel-profile", "kernel-search"});
}

TEST_CASE("the manifests of both clients agree on plugin, version and server", "[repo]") {
  const auto claude = Json::parse(text_of("skill/.claude-plugin/plugin.json"));
  const auto codex = Json::parse(text_of("skill/.codex-plugin/plugin.json"));
  for (const auto* key : {"name", "version", "description", "license"}) {
    INFO(key);
    CHECK(claude.at(key) == codex.at(key));
  }
  const auto servers = Json::parse(text_of("skill/codex.mcp.json")).at("mcpServers");
  CHECK(codex.at("mcpServers") == "./codex.mcp.json");
  CHECK(servers.at("ratchet").at("args") == claude.at("mcpServers").at("ratchet").at("args"));
  CHECK(text_of("CMakeLists.txt").find("VERSION " + claude.at("version").get<std::string>()) !=
        std::string::npos);
}

}  // namespace
}  // namespace ratchet::repo
