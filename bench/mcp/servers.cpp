#include "bench/mcp/servers.h"

#include <fmt/format.h>
#include <httplib.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "server/mcp/server.h"

namespace ratchet::bench {
namespace {

constexpr int kConnections = 32;
constexpr int kFirstPort = 18'383;

/// The minimum for an MCP server on nlohmann's JSON: parse, check the method, build the answer.
std::string floor_answer(const std::string& body) {
  const Json request = Json::parse(body);
  if (!request.contains("id")) return "";
  Json result{{"protocolVersion", "2025-11-25"}, {"serverInfo", {{"name", "floor"}}}};
  if (request.at("method") == "tools/call")
    result = {{"content", Json::array({{{"type", "text"}, {"text", kSaid}}})}};
  return Json{{"jsonrpc", "2.0"}, {"id", request.at("id")}, {"result", result}}.dump();
}

int serve_floor_stdio() {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  for (std::string line; std::getline(std::cin, line);)
    if (const auto answer = floor_answer(line); !answer.empty())
      std::cout << answer << '\n' << std::flush;
  return 0;
}

int serve_floor_http(int port) {
  httplib::Server server;
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(100'000'000);
  server.set_keep_alive_timeout(60);
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
  server.Post("/mcp", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(floor_answer(request.body), "application/json");
  });
  return server.listen("127.0.0.1", port) ? 0 : 1;
}

mcp::OfferedTool text_tool() {
  const auto schema = std::make_shared<const Json>(Json{{"type", "object"}});
  return {
      .name = "test_simple_text",
      .input_schema = schema,
      .entry = [schema] { return Json{{"name", "test_simple_text"}, {"inputSchema", *schema}}; },
      .call = [](const Json&, mcp::Interaction&) -> mcp::Outcome {
        return Json{{"content", Json::array({{{"type", "text"}, {"text", kSaid}}})}};
      }};
}

int serve_ours(int port) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("bench-mcp"));
  auto output = mcp::claim_stdout();
  if (!output) return 1;
  mcp::ServerOptions options;
  options.version = "1";
  options.tools.push_back(text_tool());
  mcp::Server server(std::move(options));
  if (port == 0) return server.serve_stdio(STDIN_FILENO, *output, {});
  const auto served = server.serve_http({.port = port, .no_auth = true}, {});
  if (!served) spdlog::error("{}", served.error().message);
  return served ? 0 : 1;
}

}  // namespace

std::optional<int> serve_as(const std::string& mode, int port) {
  if (mode == "ours") return serve_ours(port);
  if (mode == "floor") return port == 0 ? serve_floor_stdio() : serve_floor_http(port);
  return std::nullopt;
}

std::vector<Contender> contenders(const std::string& npm, const std::string& rivals) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string node = npm + "/node_modules/.bin/node";
  const bool sdk = std::filesystem::exists(npm + "/node_modules/@modelcontextprotocol/sdk") &&
                   std::filesystem::exists(node);
  std::vector<Contender> all;
  for (const bool http : {false, true}) {
    const char* transport = http ? "HTTP" : "stdio";
    const auto add = [&](const char* name, const char* mode, bool stateless) {
      const int port = http ? kFirstPort + static_cast<int>(all.size()) : 0;
      all.push_back({.name = fmt::format("{}, {}", transport, name),
                     .argv = {self, mode, std::to_string(port)},
                     .port = port,
                     .stateless = stateless});
    };
    add("bare C++", "floor", false);
    add("ratchet 2025-11-25", "ours", false);
    add("ratchet 2026-07-28", "ours", true);
    if (!sdk) continue;
    const int port = http ? kFirstPort + static_cast<int>(all.size()) : 0;
    all.push_back(
        {.name = fmt::format("{}, TypeScript SDK v1", transport),
         .argv = {node, rivals + "/ts_sdk_echo.cjs", http ? "http" : "stdio", std::to_string(port)},
         .environment = {"NODE_PATH=" + npm + "/node_modules"},
         .port = port,
         .calls = http ? 10'000 : 20'000});
  }
  return all;
}

}  // namespace ratchet::bench
