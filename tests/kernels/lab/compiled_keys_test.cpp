// Under which keys Triton keeps what Inductor compiles, without a GPU.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "server/core/process.h"
#include "tests/kernels/lab/python_fixture.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

namespace fs = std::filesystem;

/// Prints Triton's key of a device whose assembler torch brings along, here a stand-in. Where
/// Inductor writes code, it asks for the key before it chooses that assembler; where it finds code,
/// after.
constexpr const char* kScript = R"(
import os, sys
from torch._inductor.runtime import compile_tasks
import compilers
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

writes = sys.argv[1] == "writes"
compile_tasks.__file__ = f"{os.getcwd()}/runtime/compile_tasks.py"
compilers.use_recorded_answers(may_ask=writes)
def key():
    return make_backend(GPUTarget("cuda", 80, 32)).hash()
if writes:
    key()
compile_tasks._set_triton_ptxas_path()
print(key())
)";

std::string key_where_inductor(const std::string& does, const fs::path& folder) {
  auto environment = inherited_environment({"PATH", "HOME"});
  environment.push_back("PYTHONPATH=" + (source_dir() / "kernels/python").string());
  environment.push_back("TORCHINDUCTOR_CACHE_DIR=" + (folder / "inductor").string());
  const auto ended = run_program({.argv = {python_with_frameworks(), "-c", kScript, does},
                                  .environment = environment,
                                  .folder = folder},
                                 std::chrono::minutes(2));
  REQUIRE(ended);
  INFO(ended->err);
  REQUIRE(ended->status.clean());
  return ended->out;
}

TEST_CASE("what Inductor compiled is found again under its key, whoever asked for versions first",
          "[lab][python]") {
  const TempFolder folder;
  const auto assembler = folder / "bin" / "ptxas";
  fs::create_directories(assembler.parent_path());
  std::ofstream(assembler) << "#!/bin/sh\necho 'Cuda compilation tools, release 99.9, V99.9'\n";
  fs::permissions(assembler, fs::perms::owner_all);

  const auto written = key_where_inductor("writes", folder.path());

  CHECK(written.find("release 99.9") != std::string::npos);
  CHECK(key_where_inductor("finds", folder.path()) == written);
}

}  // namespace
