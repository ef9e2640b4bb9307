#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/repo/tree.h"
#include "tests/support/temp_folder.h"

namespace ratchet::repo {
namespace {

namespace fs = std::filesystem;

// In place of a compiler behind its cache: writes down what it is asked to compile and leaves an
// empty object. CMake's own checks of the compiler reach the real one.
constexpr const char* kRecordingCompiler = R"sh(#!/usr/bin/env bash
case "$PWD $*" in *CMakeScratch*|*CMakeTmp*|*TryCompile*) exec "$@" ;; esac
arguments=("$@")
for ((i = 0; i < $#; ++i)); do
  case "${arguments[i]}" in
    -o) object=${arguments[i + 1]} ;;
    -MF) depfile=${arguments[i + 1]} ;;
    -c) source=${arguments[i + 1]} ;;
  esac
done
: >"$object"
[[ -z ${depfile:-} ]] || printf '%s: %s\n' "$object" "$source" >"$depfile"
printf '%s\n' "$object" >>"$COMPILED"
)sh";

// In place of a linker: the program does nothing, successfully.
constexpr const char* kLinker = R"sh(#!/usr/bin/env bash
while (($#)); do
  [[ $1 != -o ]] || output=$2
  shift
done
printf '#!/bin/sh\n' >"$output"
chmod +x "$output"
)sh";

// In place of Clang, which not every machine has: the flags that only it knows are left out.
constexpr const char* kClang = R"sh(#!/usr/bin/env bash
arguments=()
for argument; do [[ $argument == -fsanitize=* ]] || arguments+=("$argument"); done
exec g++ "${arguments[@]}"
)sh";

// In place of the package manager's and the tests' programs.
constexpr const char* kCatch2Version = "#!/bin/sh\ncat \"$CATCH2_VERSION\" 2>/dev/null\n";
constexpr const char* kNothing = "#!/bin/sh\n";

// A tree with the same files, a build folder of its own, and programs that only pretend to compile.
struct PretendedBuild {
  test::TempFolder folder;
  fs::path tree = folder.path() / "tree";
  fs::path shims = folder.path() / "shims";
  std::set<std::string> compiled;

  PretendedBuild() {
    fs::create_directories(tree);
    fs::create_directories(shims);
    for (const auto& entry : fs::directory_iterator(root())) {
      const auto name = entry.path().filename().string();
      if (name != ".git" && !name.starts_with("build"))
        fs::create_symlink(entry.path(), tree / name);
    }
    shim("ccache", kRecordingCompiler);
    shim("linker", kLinker);
    shim("dpkg-query", kCatch2Version);
    shim("ctest", kNothing);
  }

  void shim(const std::string& name, std::string_view text) const {
    REQUIRE(write_file(shims / name, text));
    fs::permissions(shims / name, fs::perms::owner_all);
  }

  // The objects that a verb compiles; an object that an earlier verb compiled already fails the
  // test.
  std::set<std::string> objects_of(const std::string& verb,
                                   const std::vector<std::string>& arguments = {}) {
    const auto log = folder.path() / "compiled";
    fs::remove(log);
    ProcessSpec spec;
    spec.argv = {(tree / "dev").string(), verb};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment = inherited_environment({"HOME"});
    spec.environment.emplace_back(
        fmt::format("PATH={}:{}", shims.string(), "/usr/local/bin:/usr/bin:/bin"));
    spec.environment.emplace_back("RATCHET_SETUP=off");
    spec.environment.push_back("COMPILED=" + log.string());
    spec.environment.push_back("CATCH2_VERSION=" + (folder.path() / "catch2").string());
    spec.environment.push_back("CMAKE_CXX_LINKER_LAUNCHER=" + (shims / "linker").string());
    const auto run = run_program(spec, std::chrono::seconds(120), {});
    REQUIRE(run);
    INFO(run->out << run->err);
    CHECK(run->status.clean());

    std::set<std::string> objects;
    const auto recorded =
        read_file(log, std::size_t{1} << 20U);  // absent when nothing was compiled
    std::istringstream lines(recorded ? *recorded : "");
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(compiled.insert(line).second);
      objects.insert(line);
    }
    return objects;
  }
};

TEST_CASE("no verb of dev compiles again what another has compiled", "[repo][slow]") {
  PretendedBuild build;

  const auto programs = build.objects_of("demo");
  CHECK(programs.size() > 40);
  CHECK(std::ranges::none_of(programs, [](const auto& object) {
    return object.find("ratchet-tests") != std::string::npos;
  }));

  REQUIRE(write_file(build.folder.path() / "catch2", "3.7.1"));  // as `./dev test` installs it
  const auto tests = build.objects_of("test");
  CHECK(tests.size() > 10);
  CHECK(std::ranges::all_of(tests, [](const auto& object) {
    return object.find("ratchet-test") != std::string::npos ||
           object.find("gpu-driver") != std::string::npos;
  }));

  CHECK(build.objects_of("build").empty());
  CHECK(build.objects_of("test").empty());
}

TEST_CASE("dev fuzz builds a fuzzer in a folder of its own and runs it", "[repo][slow]") {
  PretendedBuild build;
  build.shim("clang++-19", kClang);
  build.shim("clang-19", "#!/bin/sh\nexec gcc \"$@\"\n");

  const auto objects = build.objects_of("fuzz", {"page", "1"});
  CHECK(std::ranges::any_of(objects, [](const auto& object) {
    return object.find("fuzz-page.dir/tests/fuzz/page.cpp") != std::string::npos;
  }));
  CHECK(std::ranges::none_of(
      objects, [](const auto& object) { return object.find("fuzz-yaml") != std::string::npos; }));
  CHECK(fs::is_directory(build.tree / "build-fuzz/found/page/corpus"));
  CHECK_FALSE(fs::exists(build.tree / "build"));
  CHECK(build.objects_of("fuzz", {"page"}).empty());
}

TEST_CASE("dev fuzz names the fuzzers, and what they need where it is not there", "[repo]") {
  const test::TempFolder folder;
  ProcessSpec spec;
  spec.argv = {(root() / "dev").string(), "fuzz", "nothing", "5"};
  spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "RATCHET_SETUP=off"};
  const auto unknown = run_program(spec, std::chrono::seconds(20), {});
  REQUIRE(unknown);
  CHECK_FALSE(unknown->status.clean());
  CHECK(unknown->err.find("no fuzzer 'nothing'; there are: code frames http") != std::string::npos);

  constexpr const char* kWithoutClang =
      "cmake=$(command -v cmake); PATH=$1 exec \"$cmake\" -S \"$0\" -B \"$1/build\" "
      "-DRATCHET_FUZZ=ON";
  spec.argv = {"/bin/sh", "-c", kWithoutClang, root().string(), folder.path().string()};
  const auto missing = run_program(spec, std::chrono::seconds(20), {});
  REQUIRE(missing);
  CHECK_FALSE(missing->status.clean());
  CHECK(missing->err.find("apt-get install clang-19 libclang-rt-19-dev") != std::string::npos);
}

}  // namespace
}  // namespace ratchet::repo
