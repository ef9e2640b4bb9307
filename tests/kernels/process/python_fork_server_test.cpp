// Imports that begin before anybody waits for them.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "kernels/process/descendants.h"
#include "kernels/process/python_fork_server.h"
#include "server/core/clock.h"
#include "server/core/files.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

/// A fork server whose interpreter takes seconds to start, and notes each start.
struct Slow {
  explicit Slow(int seconds) {
    guard_server_process();
    const auto written = write_file(folder.path() / "python",
                                    "#!/bin/sh\necho started >>" + log().string() + "\nsleep " +
                                        std::to_string(seconds) + "\nexec python3 \"$@\"\n");
    REQUIRE(written);
    fs::permissions(folder.path() / "python", fs::perms::owner_all);
  }
  [[nodiscard]] fs::path log() const { return folder.path() / "starts"; }

  TempFolder folder;
  PythonForkServer server{{.python = (folder.path() / "python").string(),
                           .data_dir = source_dir() / "kernels",
                           .worker_dir = build_dir() / "bin"}};
};

}  // namespace

TEST_CASE("who needs what is being imported waits for that import", "[process][slow]") {
  Slow python(2);
  python.server.begin_import("import numpy");
  python.server.begin_import("import numpy");

  const auto versions = python.server.versions("import numpy", {});

  REQUIRE(versions);
  CHECK(versions->find("numpy") != std::string::npos);
  CHECK(read_file(python.log()).value_or("") == "started\n");
}

TEST_CASE("a canceled call does not wait for an import that goes on", "[process][slow]") {
  Slow python(5);
  std::stop_source canceled;
  python.server.begin_import("import numpy");
  while (!fs::exists(python.log())) std::this_thread::yield();
  canceled.request_stop();

  const auto begin = steady_clock::now();
  const auto versions =
      python.server.versions("import numpy", CallContext({}, canceled.get_token()));

  CHECK_FALSE(versions);
  CHECK(milliseconds_since(begin) < 2000);
}
