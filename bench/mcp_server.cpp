// An MCP server with nothing behind it but the conformance fixtures: what bench/mcp.sh loads and
// what tests/server/mcp compares with. Usage: bench-mcp_server stdio | http PORT [--sessions]

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "server/mcp/server.h"

int main(int argc, char** argv) {
  using namespace ratchet;
  spdlog::set_default_logger(spdlog::stderr_logger_mt("mcp"));
  const std::string_view transport = argc > 1 ? argv[1] : "";
  mcp::ServerOptions options;
  options.name = "fixtures";
  options.version = "1";
  mcp::add_conformance_fixtures(options);
  if (transport == "http" && argc > 2) {
    mcp::HttpOptions http;
    http.port = std::atoi(argv[2]);
    http.sessions = argc > 3 && std::string_view(argv[3]) == "--sessions";
    mcp::Server server(std::move(options));
    const auto served = server.serve_http(http, {});
    if (!served) spdlog::error("{}", served.error().message);
    return served ? 0 : 1;
  }
  if (transport != "stdio") {
    spdlog::error("usage: {} stdio | http PORT [--sessions]", argv[0]);
    return 2;
  }
  const auto output = mcp::claim_stdout();
  if (!output) return 1;
  mcp::Server server(std::move(options));
  return server.serve_stdio(STDIN_FILENO, *output, {});
}
