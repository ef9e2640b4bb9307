#include "server/setup/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "server/core/nearest.h"
#include "server/core/process.h"
#include "server/core/text.h"

namespace ratchet::setup {
namespace {

namespace fs = std::filesystem;

constexpr int kLongestCall_s = 3660;  // the longest wait_s, and a minute
constexpr int kLongestStart_s = 60;   // the first start of a machine reads indexes from a cold disk
constexpr std::chrono::seconds kOpinionLimit(60);

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

const std::vector<McpClient>& all_clients() {
  using enum Format::Syntax;
  static const std::vector<McpClient> clients{
      {"claude", "Claude Code", "claude", {json, "mcpServers"}},
      {"codex", "Codex", "codex", {toml, "mcp_servers"}},
      {"cursor", "Cursor", "", {json_with_comments, "mcpServers"}},
      {"vscode", "VS Code", "", {json_with_comments, "servers"}, true}};
  return clients;
}

Result<McpClient> client_named(const std::string& word) {
  const auto found = std::ranges::find(all_clients(), word, &McpClient::word);
  if (found != all_clients().end()) return *found;
  std::vector<std::string_view> words;
  for (const auto& client : all_clients()) words.push_back(client.word);
  const auto meant = nearest(word, words);
  return invalid_argument(
      fmt::format("setup knows claude, codex, cursor and vscode, but not {}.{}", word,
                  meant.empty() ? "" : fmt::format(" Did you mean {}?", meant)),
      "For another client: it starts `ratchet serve` as a local (stdio) server.");
}

Result<fs::path> config_file_of(const McpClient& client) {
  if (client.of_project) return fs::current_path() / ".vscode" / "mcp.json";
  const bool claude = client.word == "claude";
  if (const auto own = variable(claude ? "CLAUDE_CONFIG_DIR" : "CODEX_HOME");
      !own.empty() && client.word != "cursor")
    return fs::path(own) / (claude ? ".claude.json" : "config.toml");
  const fs::path home = variable("HOME");
  if (home.empty())
    return unavailable("HOME is not set, so the client's file cannot be found",
                       "Set HOME, or give --print and put the entry there yourself.");
  if (claude) return home / ".claude.json";
  return client.word == "codex" ? home / ".codex" / "config.toml" : home / ".cursor" / "mcp.json";
}

Json entry_for(const McpClient& client, const std::vector<std::string>& command) {
  Json entry{{"command", command.front()},
             {"args", std::vector<std::string>(command.begin() + 1, command.end())}};
  if (client.word == "codex") {
    entry["startup_timeout_sec"] = kLongestStart_s;
    entry["tool_timeout_sec"] = kLongestCall_s;
    return entry;
  }
  entry["type"] = "stdio";
  if (client.word == "claude") entry["timeout"] = kLongestCall_s * 1000;
  return entry;
}

Opinion opinion_of(const McpClient& client, const std::string& name) {
  Opinion opinion;
  if (client.program.empty() || !find_program(std::string(client.program))) return opinion;
  const auto ran = run_program({.argv = {std::string(client.program), "mcp", "get", name},
                                .environment = whole_environment()},
                               kOpinionLimit);
  opinion.asked = true;
  if (!ran) {
    opinion.says = ran.error().message;
    return opinion;
  }
  // Claude Code ends with 0 even when it does not connect.
  opinion.connected = ran->status.clean() &&
                      (client.word != "claude" || ran->out.find("Connected") != std::string::npos);
  if (!opinion.connected)
    opinion.says = trimmed(ran->out + ran->err).empty() ? ran->status.text()
                                                        : std::string(trimmed(ran->out + ran->err));
  return opinion;
}

}  // namespace ratchet::setup
