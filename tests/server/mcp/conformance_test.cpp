// The official conformance suite against this server. Its requirement sets are frozen; nothing that
// they require may fail.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>

#include "server/core/fd.h"
#include "server/core/process.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

/// `ratchet-test-server` on a free port of its own choice.
class TestServer {
 public:
  explicit TestServer(bool sessions) {
    std::array<int, 2> log{};
    REQUIRE(::pipe2(log.data(), O_CLOEXEC) == 0);
    log_.reset(log[0]);
    const Fd their_log(log[1]);
    ProcessSpec spec{.argv = {build_dir() / "bin/ratchet-test-server", "--http", "0"},
                     .environment = inherited_environment({"LD_LIBRARY_PATH"}),
                     .descriptors = {{their_log.get(), 2}}};
    if (sessions) spec.argv.emplace_back("--sessions");
    auto process = Process::spawn(spec);
    REQUIRE(process);
    process_.emplace(*std::move(process));
  }

  /// From the line of its log that says where it listens.
  [[nodiscard]] std::string port() const {
    static const std::regex place(R"(http://127\.0\.0\.1:(\d+)/mcp)");
    std::string text;
    std::array<char, 512> chunk{};
    std::smatch found;
    while (!std::regex_search(text, found, place)) {
      const ssize_t count = ::read(log_.get(), chunk.data(), chunk.size());
      REQUIRE(count > 0);
      text.append(chunk.data(), static_cast<std::size_t>(count));
    }
    return found[1];
  }

 private:
  Fd log_;
  std::optional<Process> process_;
};

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

  const TestServer server(sessions);
  auto run = run_program(
      {.argv = {programs / "node", programs / "conformance", "server", "--url",
                "http://localhost:" + server.port() + "/mcp", "--requirements", revision},
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
