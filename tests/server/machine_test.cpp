// What a machine lacks is said in words that name it and the way on, before anything is recorded.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "server/core/fd.h"
#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "server/core/text.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A machine with nothing in PATH but what is put there.
class BareMachine {
 public:
  BareMachine() {
    fs::create_directory(folder_ / "bin");
    REQUIRE(write_file(folder_ / "twice.cpp",
                       "extern \"C\" void solve(const float* x, float* y, int n) {\n"
                       "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n"));
  }

  void has(const std::string& program) const {
    const auto found = find_program(program);
    REQUIRE(found);
    fs::create_symlink(fs::canonical(*found), folder_ / "bin" / program);
  }

  /// An interpreter without any package.
  [[nodiscard]] std::string bare_python() const {
    const auto path = folder_ / "bin/bare-python";
    REQUIRE(write_file(path, "#!/bin/sh\nexec /usr/bin/python3 -I -S \"$@\"\n"));
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  /// What the program said, which failed.
  [[nodiscard]] std::string refusal(const std::vector<std::string>& arguments,
                                    const std::string& home = "") const {
    std::vector<std::string> argv{(build_dir() / "bin/ratchet").string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    auto environment = inherited_environment({"LD_LIBRARY_PATH"});
    if (!libraries_.empty()) environment = {"LD_LIBRARY_PATH=" + libraries_.string()};
    environment.push_back("PATH=" + (folder_ / "bin").string());
    environment.push_back("HOME=" + (home.empty() ? folder_.path().string() : home));
    const auto done =
        run_program({.argv = argv, .environment = environment, .folder = folder_.path()}, 120s);
    REQUIRE(done);
    INFO(done->out << done->err);
    CHECK(done->status.code == 1);
    return done->err;
  }

  /// What create_run said; no folder was left.
  [[nodiscard]] std::string no_run(Json arguments, std::vector<std::string> options = {}) const {
    arguments["output_dir"] = "run";
    options.insert(options.end(), {"call", "create_run", arguments.dump()});
    auto said = refusal(options);
    CHECK_FALSE(fs::exists(folder_ / "run/contract.json"));
    return said;
  }

  /// A driver of CUDA 11.4, of which the runtime only asks the version.
  void has_old_driver() {
    libraries_ = folder_ / "driver";
    const auto source = folder_ / "driver/driver.cpp";
    REQUIRE(write_file(source, R"(#include <cstring>
extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuDriverGetVersion(int* version) { *version = 11040; return 0; }
extern "C" int cuGetProcAddress(const char* name, void** found, int, unsigned long long) {
  *found = std::strcmp(name, "cuDriverGetVersion") == 0 ? (void*)cuDriverGetVersion
           : std::strcmp(name, "cuInit") == 0           ? (void*)cuInit
                                                        : nullptr;
  return *found ? 0 : 500;
})"));
    const auto done = run_program({.argv = {"g++", "-shared", "-fPIC", source.string(), "-o",
                                            (libraries_ / "libcuda.so.1").string()},
                                   .environment = inherited_environment({"PATH"})},
                                  60s);
    REQUIRE(done);
    INFO(done->err);
    REQUIRE(done->status.clean());
  }

  [[nodiscard]] const TempFolder& folder() const { return folder_; }

 private:
  TempFolder folder_;
  fs::path libraries_;
};

bool says(const std::string& text, const std::string& words) {
  UNSCOPED_INFO(text);
  return text.find(words) != std::string::npos;
}

TEST_CASE("without a compiler a C++ kernel is refused by the compiler's name", "[machine]") {
  const BareMachine machine;
  const auto said = machine.no_run({{"problem", "vector_add"}, {"implementation", "host-cpp"}});
  CHECK(says(said, "unavailable: g++ was not found\nInstall g++"));
}

TEST_CASE("without a GPU a CUDA kernel is refused, with what goes without one", "[machine]") {
  const BareMachine machine;
  const std::string name = GENERATE("cuda-cpp", "cuda");
  const auto said = machine.no_run({{"problem", "vector_add"}, {"implementation", name}});
  if (said.find("libcuda.so.1") == std::string::npos) SKIP("this machine has a CUDA driver");
  CHECK(says(said, "cuda device 0 cannot be used: no CUDA driver: libcuda.so.1 was not found"));
  CHECK(says(said, "call disassemble"));
}

TEST_CASE("a driver that is older than the toolkit is named with both versions", "[machine]") {
  if (!fs::exists(build_dir() / "bin/ratchet-worker-cuda")) SKIP("built without CUDA");
  BareMachine machine;
  machine.has_old_driver();
  const auto said = machine.no_run({{"problem", "vector_add"}, {"implementation", "cuda-cpp"}});
  CHECK(says(said,
             "the NVIDIA driver is too old: it supports CUDA 11.4, and ratchet was built "
             "with CUDA 1"));
  CHECK(says(said, "Update the driver, or build ratchet with an older toolkit"));
}

TEST_CASE("a module that the interpreter lacks is named with the interpreter", "[machine]") {
  if (!fs::exists("/usr/bin/python3")) SKIP("/usr/bin/python3 is not installed");
  const BareMachine machine;
  for (const auto* program : {"g++", "as", "ld"}) machine.has(program);
  REQUIRE(write_file(machine.folder() / "ref.py",
                     "import torch\n\n\ndef reference(x, **_):\n    return 2 * x\n"));
  const Json task{{"kernel", {{"path", "twice.cpp"}}},
                  {"reference", {{"path", "ref.py"}}},
                  {"dims", {{"n", 1003}}}};

  const auto said = machine.no_run(task, {"--python", machine.bare_python()});
  CHECK(says(said, "No module named"));
  CHECK(says(said, "or name an interpreter that has it with --python"));
  CHECK(
      says(machine.no_run(task, {"--python", "/nowhere/python"}), "/nowhere/python was not found"));
}

TEST_CASE("a home that cannot be written is named, with the option that helps", "[machine]") {
  const BareMachine machine;
  const auto said = machine.refusal({"runs"}, "/proc/nowhere");
  CHECK(says(said, "cannot create /proc/nowhere/.local/state/ratchet"));
  CHECK(says(said, "Set --state-dir to a folder that this user can write to."));
}

TEST_CASE("a port in use is named, and so is the way on", "[machine]") {
  const Fd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* general = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(taken.get(), general, size) == 0);
  REQUIRE(::listen(taken.get(), 1) == 0);
  REQUIRE(::getsockname(taken.get(), general, &size) == 0);
  const auto port = std::to_string(ntohs(address.sin_port));

  const BareMachine machine;
  const auto said = machine.refusal({"serve", "--http", port, "--no-auth", "--no-require-sandbox"});
  CHECK(says(said, "cannot listen on 127.0.0.1:" + port + ": Address already in use"));
  CHECK(says(said, "Choose another port, or stop the program that uses this one."));
}

}  // namespace
}  // namespace ratchet::test
