// The official conformance suite against this server. Its requirement sets are frozen; nothing that
// they require may fail.

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <regex>

#include "server/core/process.h"
#include "tests/server/mcp/peers.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

struct Judgement {
  Captured run;
  int passed = 0;
  int failed = 0;
};

/// Runs the requirement set of a revision; skips the test where npm installed no suite.
Judgement judge(const std::string& revision, bool sessions) {
  const auto programs = build_dir() / "npm/node_modules/.bin";
  if (!std::filesystem::exists(programs / "conformance"))
    SKIP("the suite is not installed; ./dev test --all fetches it with npm");

  mcp::ServerOptions options;
  options.version = "1";
  mcp::add_conformance_fixtures(options);
  mcp::Server server(std::move(options));
  const HttpPeer peer(server, {.sessions = sessions});
  auto run = run_program({.argv = {programs / "node", programs / "conformance", "server", "--url",
                                   "http://localhost:" + std::to_string(peer.port()) + "/mcp",
                                   "--requirements", revision},
                          .environment = inherited_environment({"PATH", "HOME"})},
                         std::chrono::minutes(5));
  REQUIRE(run);
  Judgement judgement{*std::move(run)};
  static const std::regex total(R"(Total: (\d+) passed, (\d+) failed)");
  if (std::smatch counts; std::regex_search(judgement.run.out, counts, total)) {
    judgement.passed = std::stoi(counts[1]);
    judgement.failed = std::stoi(counts[2]);
  }
  return judgement;
}

// The counts are those that the suite's own reference server reaches: a scenario that finds nothing
// to check passes as well.

TEST_CASE("everything that the conformance suite checks of 2025-11-25 holds", "[npm]") {
  const auto judged = judge("2025-11-25", true);

  INFO(judged.run.out << judged.run.err);
  CHECK(judged.run.status.clean());
  CHECK(judged.passed == 84);
  CHECK(judged.failed == 0);
}

TEST_CASE("everything that the conformance suite requires of 2026-07-28 holds", "[npm]") {
  const auto judged = judge("2026-07-28", false);

  INFO(judged.run.out << judged.run.err);
  CHECK(judged.run.status.clean());  // required scenarios; those of extensions are not counted
  CHECK(judged.passed >= 164);
}

}  // namespace
}  // namespace ratchet::test
