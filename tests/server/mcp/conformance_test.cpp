// The official conformance suite against this server. It needs Node ≥ 22 and the npm package
// @modelcontextprotocol/conformance at 0.2.0-alpha.12, whose requirement sets are frozen.
//
//   RATCHET_CONFORMANCE  folder in which `npm install` put the package
//   RATCHET_NODE         the node program; `node` in PATH when unset

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdlib>
#include <filesystem>

#include "server/core/process.h"
#include "tests/server/mcp/peers.h"

namespace ratchet::test {
namespace {

std::string from_environment(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

TEST_CASE("everything that the conformance suite requires of a revision holds", "[npm]") {
  const auto [revision, sessions] =
      GENERATE(table<std::string, bool>({{"2025-11-25", true}, {"2026-07-28", false}}));
  const std::string folder = from_environment("RATCHET_CONFORMANCE", "");
  const auto program = std::filesystem::path(folder) /
                       "node_modules/@modelcontextprotocol/conformance/dist/index.js";
  if (folder.empty() || !std::filesystem::exists(program))
    SKIP("RATCHET_CONFORMANCE names no folder with the conformance suite");

  mcp::ServerOptions options;
  options.version = "1";
  mcp::add_conformance_fixtures(options);
  mcp::Server server(std::move(options));
  const HttpPeer peer(server, {.sessions = sessions});
  const auto run =
      run_program({.argv = {from_environment("RATCHET_NODE", "node"), program.string(), "server",
                            "--url", "http://localhost:" + std::to_string(peer.port()) + "/mcp",
                            "--requirements", revision},
                   .environment = inherited_environment({"PATH", "HOME"})},
                  std::chrono::minutes(5));

  REQUIRE(run);
  INFO(run->out);
  INFO(run->err);
  CHECK(run->status.clean());
}

}  // namespace
}  // namespace ratchet::test
