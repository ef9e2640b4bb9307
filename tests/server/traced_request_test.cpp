// The request that CONTRIBUTING.md follows through the server, sent to one.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/page_blocks.h"
#include "tests/support/places.h"
#include "tests/support/stdio_program.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

/// Without its last line, which says how long each step took.
std::string without_spent(const std::string& text) {
  const auto at = text.find("\nspent: ");
  CHECK(at != std::string::npos);
  return text.substr(0, at);
}

TEST_CASE("the traced request in CONTRIBUTING goes as printed", "[readme][slow]") {
  const TempFolder folder;
  const std::string page = "CONTRIBUTING.md";
  REQUIRE(write_file(folder / "twice.cpp", block_with("extern \"C\" void solve")));
  REQUIRE(write_file(folder / "ref.py", block_with("def reference")));
  auto request = Json::parse(block_with("\"progressToken\":7}}}", page));
  auto first = Json::parse(block_with("notifications/progress", page));
  auto text = block_with("hidden sizes: 30 passed", page);

  auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH", "RATCHET_PYTHON"});
  environment.push_back("HOME=" + folder.path().string());
  StdioProgram server({.argv = {(build_dir() / "bin/ratchet").string(), "serve"},
                       .environment = environment,
                       .folder = folder.path()});
  const auto answered = [&](const Json& message, std::vector<Json>& before) {
    server.send(message);
    for (;;) {
      auto got = server.receive();
      if (got.value("id", Json()) == message["id"]) return got["result"];
      before.push_back(std::move(got));
    }
  };
  std::vector<Json> before;
  (void)answered(Json::parse(R"({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
      {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})"),
                 before);
  server.send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
  const auto created = answered(Json::parse(R"({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
      "params": {"name": "create_run", "arguments": {"kernel": {"path": "twice.cpp"},
      "reference": {"path": "ref.py"}, "dims": {"n": 1000003}, "output_dir": "run"}}})"),
                                before);
  INFO(created.dump());
  const auto run = created["structuredContent"]["run"].get<std::string>();

  const auto printed = request["params"]["arguments"]["run"].get<std::string>();
  request["params"]["arguments"]["run"] = run;
  text.replace(text.find(printed), printed.size(), run);
  before.clear();
  const auto checked = answered(request, before);
  INFO(checked.dump());
  REQUIRE_FALSE(before.empty());
  // Hidden sizes are drawn: now and then two are alike, and count once.
  auto& drawn = before.front()["params"]["total"];
  const int fewer = first["params"]["total"].get<int>() - drawn.get<int>();
  CHECK(fewer >= 0);
  CHECK(fewer <= 4);
  drawn = first["params"]["total"];
  CHECK(before.front() == first);
  const std::string thirty = "hidden sizes: 30";
  REQUIRE(text.find(thirty) != std::string::npos);
  text.replace(text.find(thirty), thirty.size(), "hidden sizes: " + std::to_string(30 - fewer));
  CHECK(without_spent(checked["content"][0]["text"]) == without_spent(text));
}

}  // namespace
}  // namespace ratchet::test
