// What a server begins for the run that its client is about to create.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "kernels/process/descendants.h"
#include "server/core/process.h"
#include "tests/support/frameworks.h"
#include "tests/support/places.h"
#include "tests/support/stdio_program.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

using std::chrono::steady_clock;

/// A server whose Python has torch.
struct Asked {
  /// Calls a tool and waits for its answer.
  void call(const std::string& tool) {
    server.send({{"jsonrpc", "2.0"},
                 {"id", tool},
                 {"method", "tools/call"},
                 {"params", {{"name", tool}, {"arguments", Json::object()}}}});
    for (Json message = Json::object(); message.value("id", "") != tool;)
      message = server.receive();
  }
  /// Whether the process that imports frameworks lives.
  [[nodiscard]] bool imports() const {
    return std::ranges::any_of(descendants_of(server.pid()), [](pid_t pid) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
      const std::string command(std::istreambuf_iterator<char>(file), {});
      return command.find("fork_server.py") != std::string::npos;
    });
  }

  TempFolder folder;
  StdioProgram server{[this] {
    auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"});
    environment.push_back("RATCHET_PYTHON=" + python_with_frameworks());
    return ProcessSpec{.argv = {(build_dir() / "bin/ratchet").string(), "serve", "--state-dir",
                                (folder / "state").string(), "--root", folder.path().string()},
                       .environment = environment};
  }()};
};

}  // namespace

TEST_CASE("a server that is asked about its machine imports torch before a run needs it",
          "[server][python]") {
  Asked asked;
  asked.call("check_env");

  const auto patience = steady_clock::now() + std::chrono::seconds(60);
  while (!asked.imports() && steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(asked.imports());
}

TEST_CASE("a server that is only asked about knowledge and runs imports nothing",
          "[server][python]") {
  Asked asked;
  asked.call("list_runs");
  asked.call("list_methods");
  // Time in which an import would have begun.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  CHECK_FALSE(asked.imports());
}

}  // namespace ratchet::test
