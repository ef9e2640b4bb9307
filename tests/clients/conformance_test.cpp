// The official MCP conformance suite. Its requirement sets are frozen; all requirements must pass.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <regex>
#include <string>
#include <vector>

#include "tests/clients/installed.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

struct Judgement {
  Captured run;
  int passed = 0;
  int failed = 0;
};

/// Checks `ratchet-test-server` against the requirement set of a revision. Skips the test where npm
/// installed no suite.
Judgement judge(const std::string& revision, bool sessions) {
  const std::string suite = installed("conformance");
  const std::string node = installed("node");
  const Newcomer person;
  std::vector<std::string> command{build_dir() / "bin/ratchet-test-server"};
  if (sessions) command.emplace_back("--sessions");
  const HttpServer server(person, command);
  auto run = run_program(
      {.argv = {node, suite, "server", "--url", server.url(), "--requirements", revision},
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

// The counts are those of the suite's own reference server: a scenario that finds nothing to check
// passes, too.

TEST_CASE("all checks of the conformance suite for 2025-11-25 pass", "[npm]") {
  const auto judged = judge("2025-11-25", true);

  INFO(judged.run.out << judged.run.err);
  CHECK(judged.run.status.clean());
  CHECK(judged.passed == 84);
  CHECK(judged.failed == 0);
}

TEST_CASE("all requirements of the conformance suite for 2026-07-28 pass", "[npm]") {
  const auto judged = judge("2026-07-28", false);

  INFO(judged.run.out << judged.run.err);
  CHECK(judged.run.status.clean());  // of required scenarios; those of extensions do not count
  CHECK(judged.passed >= 164);
}

}  // namespace
}  // namespace ratchet::test
