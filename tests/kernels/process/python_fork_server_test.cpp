// Imports that begin before anybody waits for them, and limits of the processes that are forked.

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>

#include "kernels/process/control_group.h"
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

TEST_CASE("a reference, inputs and an import have a limit of memory, as a kernel has",
          "[process][groups]") {
  PythonForkServer server{{.python = "python3", .data_dir = {}, .worker_dir = {}}};
  const WorkerPlace place{"bin", DeviceKind::host, 0, {}};

  for (const char* part : {"reference", "inputs", "problems"})
    CHECK(server.server_spec(part, "import torch").memory_bytes == most_memory());
  CHECK(server.kernel_spec(place, "candidate", 1 << 20, {"k.py", "", ""}).memory_bytes > 0);
}

TEST_CASE("a Python process that cannot enter its control group does not start",
          "[process][groups]") {
  guard_server_process();
  PythonForkServer server{{.python = "python3",
                           .data_dir = source_dir() / "kernels",
                           .worker_dir = build_dir() / "bin"}};
  const TempFolder folder;
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto started = [&](const char* group) {
    const Fd door(::open(group, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return server.server_spec("reference", "")
        .spawn({.argv = {"python3"},
                .environment = {"PATH=/usr/bin:/bin"},
                .folder = folder.path(),
                .descriptors = {{null.get(), 1}, {null.get(), 2}, {null.get(), 3}},
                .joins = {door.get()}});
  };
  const auto file = (folder / "group").string();
  const auto joined = started(file.c_str());
  const auto refused = started("/dev/full");

  REQUIRE(joined);
  CHECK(read_file(file).value_or("") == std::to_string(joined->pid()));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("control group") != std::string::npos);
}
