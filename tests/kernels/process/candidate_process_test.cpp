#include "kernels/process/candidate_process.h"

#include <stdlib.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

/// A toolkit in a private folder, and a kernel's library that is linked with what it holds.
class PrivateToolkit {
 public:
  PrivateToolkit() {
    REQUIRE(write_file(folder_ / "toolkit/bin/nvcc", "#!/bin/sh\n"));
    REQUIRE(
        write_file(folder_ / "toolkit/lib/runtime.cpp", R"(extern "C" int two() { return 2; })"));
    REQUIRE(write_file(folder_ / "kernel.cpp",
                       R"(extern "C" int two(); extern "C" void solve() { two(); })"));
    const auto libraries = (folder_ / "toolkit/lib").string();
    compile({libraries + "/runtime.cpp", "-o", libraries + "/libruntime.so"});
    compile({(folder_ / "kernel.cpp").string(), "-o", (folder_ / "kernel.so").string(),
             "-L" + libraries, "-lruntime", "-Wl,-rpath," + libraries});
  }

  /// Why a worker that was started with this as CUDA_HOME cannot load the kernel; empty if it can.
  [[nodiscard]] std::string hindrance(const std::string& cuda_home) const {
    auto code = read_file(folder_ / "kernel.so");
    REQUIRE(code);
    ::setenv("CUDA_HOME", cuda_home.c_str(), 1);
    auto worker = CandidateProcess::launch(
        worker_spec({build_dir() / "bin", DeviceKind::host, 0, 10s}, "candidate", 1 << 20), 10s);
    ::unsetenv("CUDA_HOME");
    REQUIRE(worker);
    const auto loaded = worker->load({*code, {"the kernel", "solve", ""}}, {});
    if (!loaded) return loaded.error().message;
    return worker->fault() ? worker->fault()->message : "";
  }

  [[nodiscard]] std::filesystem::path folder() const { return folder_ / "toolkit"; }

 private:
  static void compile(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"g++", "-shared", "-fPIC"});
    const auto done =
        run_program({.argv = arguments, .environment = inherited_environment({"PATH"})}, 60s);
    REQUIRE(done);
    INFO(done->err);
    REQUIRE(done->status.clean());
  }

  TempFolder folder_;
};

TEST_CASE("a kernel is loaded with the runtime of the toolkit that CUDA_HOME names", "[worker]") {
  const PrivateToolkit toolkit;
  CHECK(toolkit.hindrance(toolkit.folder()).empty());
}

TEST_CASE("CUDA_HOME opens no folder that is not a toolkit", "[worker]") {
  const PrivateToolkit toolkit;
  std::filesystem::remove(toolkit.folder() / "bin/nvcc");
  for (const auto& folder : {toolkit.folder().string(), std::string("/"), std::string()})
    CHECK(toolkit.hindrance(folder).find("libruntime.so") != std::string::npos);
}

}  // namespace
}  // namespace ratchet::test
