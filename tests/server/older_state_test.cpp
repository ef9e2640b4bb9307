// A state folder and a finished run as commit f836b6d wrote them (`ratchet demo --implementation
// host-cpp`), packed with nothing but caches left out.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "server/core/fd.h"
#include "server/core/process.h"
#include "server/core/text.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRun = "softmax-5ae62ab9";
// A ledger names its output folder by its full path, so the run can only be unpacked there.
const fs::path kOutput = "/tmp/ratchet-demo-azm9Bf";

class OlderState {
 public:
  OlderState() {
    REQUIRE(::flock(lock_.get(), LOCK_EX) == 0);
    fs::remove_all(kOutput);  // of a test that was killed
    const auto archive = source_dir() / "tests/server/older_state/f836b6d.tar.xz";
    REQUIRE(run({"tar", "xJf", archive.string(), "-C", folder_.path().string()}).status.clean());
    fs::copy(folder_ / kOutput.filename(), kOutput, fs::copy_options::recursive);
  }
  ~OlderState() { fs::remove_all(kOutput); }
  OlderState(const OlderState&) = delete;
  OlderState& operator=(const OlderState&) = delete;

  [[nodiscard]] std::string ratchet(const std::vector<std::string>& words,
                                    const std::string& input = "") const {
    std::vector<std::string> argv{"sh",
                                  "-c",
                                  R"(printf %s "$0" | "$@")",
                                  input,
                                  (build_dir() / "bin/ratchet").string(),
                                  "--state-dir",
                                  (folder_ / "state" / "ratchet").string(),
                                  "--root",
                                  kOutput.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    const auto ended = run(argv);
    INFO(ended.out << ended.err);
    CHECK(ended.status.clean());
    return ended.out;
  }

 private:
  static Captured run(std::vector<std::string> argv) {
    auto ended = run_program(
        {.argv = std::move(argv), .environment = inherited_environment({"PATH", "HOME"})},
        std::chrono::seconds(30));
    REQUIRE(ended);
    return *std::move(ended);
  }

  /// Of the tests that unpack the run, one at a time.
  Fd lock_{::open((kOutput.string() + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)};
  TempFolder folder_;
};

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("a run of an older version is intact", "[state]") {
  const OlderState older;
  const auto audit = older.ratchet({"audit", kRun});

  INFO(audit);
  CHECK(has_line(audit, "breaks: none"));
  CHECK(has_line(audit, "intact: true"));
  CHECK(has_line(audit, "rows: 25"));
  CHECK(audit.find("; 25 of them, up to record 25, were written by an older version") !=
        std::string::npos);
}

TEST_CASE("a run of an older version goes on where it ended", "[state]") {
  const OlderState older;
  const auto argument = [](const std::string& more) {
    return fmt::format(R"({{"run": "{}"{}}})", kRun, more);
  };

  const auto head = std::string(trimmed(older.ratchet({"head"})));
  const auto status = older.ratchet({"call", "run_status", argument("")});
  INFO(status);
  CHECK(has_line(status, "stage: finished"));
  CHECK(has_line(status, "best: v2"));

  const auto extended = older.ratchet({"call", "extend_run", argument(R"(, "iterations": 1)")});
  INFO(extended);
  CHECK(has_line(extended, "stage: evidenced"));
  const auto pages =
      older.ratchet({"call", "query_kbs", argument(R"(, "query": "vectorized loads")")});
  INFO(pages);
  CHECK(pages.find("method-vectorized-access") != std::string::npos);

  const auto audit = older.ratchet({"audit", kRun, "--against", head});
  INFO(audit);
  CHECK(has_line(audit, "intact: true"));
  CHECK(has_line(audit, "rows: 27"));
  CHECK(audit.find("none: extended by 2 records since record 25") != std::string::npos);

  const auto logged = older.ratchet({"audit", "--against", "-"},
                                    "Nov 23 host ratchet[7]: ledger head " + head + "\nother\n");
  CHECK(has_line(logged,
                 "rollback: none: extended by 2 records since record 25, the last one when "
                 "the head was kept"));
}

}  // namespace
}  // namespace ratchet::test
