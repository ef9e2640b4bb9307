// A run whose kernels are built, checked and timed by another process, as on another machine.

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {
namespace {

using namespace std::chrono_literals;

/// A server's state, and a lab's own.
class TwoMachines {
 public:
  [[nodiscard]] std::string lab_command() const {
    return program() + " --state-dir " + (folder_ / "far").string() + " lab";
  }

  /// Calls a tool of a server that knows the lab "far".
  Captured call(const std::string& tool, const Json& arguments, const std::string& command) const {
    auto done =
        run_program({.argv = {program(), "--json", "--state-dir", (folder_ / "near").string(),
                              "--root", folder_.path().string(), "--no-builtin-kbs", "--lab",
                              "far=" + command, "call", tool, arguments.dump()},
                     .environment = inherited_environment({"PATH", "HOME", "LD_LIBRARY_PATH"}),
                     .folder = folder_.path()},
                    240s);
    REQUIRE(done);
    return *std::move(done);
  }
  [[nodiscard]] Json must(const std::string& tool, const Json& arguments,
                          const std::string& command) const {
    const auto done = call(tool, arguments, command);
    INFO(done.err);
    REQUIRE(done.status.clean());
    return Json::parse(done.out);
  }

  [[nodiscard]] Json task() const {
    return {{"problem", "vector_add"},
            {"implementation", "host-cpp"},
            {"dims", {{"n", 20000}}},
            {"lab", "far"},
            {"output_dir", (folder_ / "run").string()},
            {"wait_s", 200}};
  }
  [[nodiscard]] const TempFolder& folder() const { return folder_; }

 private:
  static std::string program() { return (build_dir() / "bin/ratchet").string(); }

  TempFolder folder_;
};

}  // namespace

TEST_CASE("a run on a lab is built, checked and profiled there, and recorded here",
          "[labs][slow]") {
  const TwoMachines machines;
  const auto command = "echo Welcome to far; " + machines.lab_command();

  const auto run = machines.must("create_run", machines.task(), command)["run"];
  const auto checked = machines.must("check_correctness", {{"run", run}, {"wait_s", 200}}, command);
  const auto profiled = machines.must("profile_kernel", {{"run", run}, {"wait_s", 200}}, command);
  const auto listed = machines.must("list_labs", Json::object(), command);

  CHECK(checked["passed"] == true);
  CHECK(profiled["timing"]["median_ns"].get<double>() > 0);
  CHECK(listed["labs"][0]["name"] == "far");
  // The binaries are there, the ledger here.
  CHECK(std::filesystem::exists(machines.folder() / "far" / "builds"));
  CHECK(std::filesystem::exists(machines.folder() / "near" / "ledger.sqlite"));
  CHECK_FALSE(std::filesystem::exists(machines.folder() / "far" / "ledger.sqlite"));
}

TEST_CASE("a kernel on a lab has the headers of its folder", "[labs]") {
  const TwoMachines machines;
  std::filesystem::create_directory(machines.folder() / "source");
  REQUIRE(write_file(machines.folder() / "source" / "twice.h",
                     "inline float twice(float x) { return 2 * x; }\n"));
  REQUIRE(write_file(machines.folder() / "source" / "kernel.cpp",
                     "#include \"twice.h\"\n"
                     "extern \"C\" void solve(const float* x, float* y, int n) {\n"
                     "  for (int i = 0; i < n; ++i) y[i] = twice(x[i]);\n}\n"));
  REQUIRE(write_file(machines.folder() / "source" / "ref.cpp",
                     "extern \"C\" void reference(const float* x, float* y, int n) {\n"
                     "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n"));
  const Json task{{"kernel", {{"path", (machines.folder() / "source/kernel.cpp").string()}}},
                  {"reference", {{"path", (machines.folder() / "source/ref.cpp").string()}}},
                  {"dims", {{"n", 5000}}},
                  {"implementation", "host-cpp"},
                  {"lab", "far"},
                  {"output_dir", (machines.folder() / "run").string()},
                  {"wait_s", 200}};

  const auto run = machines.must("create_run", task, machines.lab_command());

  CHECK(run["stage"] == "built");
}

TEST_CASE("a lab that dies leaves nothing behind, and the next call starts it again", "[labs]") {
  const TwoMachines machines;
  const auto mark = (machines.folder() / "died").string();
  const auto command =
      "if [ ! -e " + mark + " ]; then touch " + mark + "; exit 3; fi; " + machines.lab_command();

  const auto first = machines.call("create_run", machines.task(), command);
  const auto second = machines.must("create_run", machines.task(), command);

  CHECK_FALSE(first.status.clean());
  INFO(first.err);
  CHECK(first.err.find("exit code 3") != std::string::npos);
  CHECK(second["stage"] == "built");
}

}  // namespace ratchet::test
