#pragma once

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "server/core/fields.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/frameworks.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

namespace ratchet::test {

/// What is at `path` below the folder, imported into the folder `problem`.
struct Imported {
  std::string python = python_with_frameworks();
  TempFolder folder;

  Imported(const std::string& path, const std::map<std::string, std::string>& files,
           const std::string& scale = "") {
    for (const auto& [name, text] : files) REQUIRE(write_file(folder / name, text));
    Json asked{{"path", path}, {"output_dir", "problem"}};
    if (!scale.empty()) asked["scale"] = scale;
    said = called("import_problem", asked);
  }
  /// A task of GPU MODE.
  Imported(const std::string& sizes, const std::string& reference, const std::string& eval = "")
      : Imported("task", {{"task/task.yml",
                           "tests:\n  - {" + sizes + "}\n\nbenchmarks:\n  - {" + sizes + "}\n"},
                          {"task/reference.py", "import torch\n\n\n" + reference},
                          {"task/eval.py", eval}}) {}

  /// What a call of a tool, which may fail, printed.
  [[nodiscard]] Captured answered(const std::string& tool, const Json& arguments) const {
    auto environment = inherited_environment({"PATH", "LD_LIBRARY_PATH"});
    environment.push_back("RATCHET_PYTHON=" + python);
    environment.push_back("HOME=" + folder.path().string());
    const auto done = run_program(
        {.argv = {(build_dir() / "bin/ratchet").string(), "call", tool, arguments.dump()},
         .environment = environment,
         .folder = folder.path()},
        std::chrono::minutes{5});
    REQUIRE(done);
    return *done;
  }

  [[nodiscard]] std::string called(const std::string& tool, const Json& arguments) const {
    const auto done = answered(tool, arguments);
    INFO(done.out << done.err);
    REQUIRE(done.status.clean());
    return done.out;
  }

  /// Whether a kernel passes; empty: the problem's own.
  [[nodiscard]] bool passes(const std::string& name, const std::string& kernel = "") const {
    Json run{{"problem", "problem"}, {"implementation", "host-python"}, {"output_dir", name}};
    if (!kernel.empty()) run["kernel"] = {{"text", "import torch\n\n\n" + kernel}};
    return run_passes(run);
  }
  /// Whether v0 of a run that is created so passes.
  [[nodiscard]] bool run_passes(const Json& run) const {
    const auto created = called("create_run", run);
    const auto id = created.substr(5, created.find('\n') - 5);
    return called("check_correctness", {{"run", id}}).find("passed: true") != std::string::npos;
  }

  /// What a benchmark of the problem's own kernel says. `gone`: the problem's folder is, by then.
  [[nodiscard]] std::string benchmarked(bool gone = false) const {
    const auto created =
        called("create_run",
               {{"problem", "problem"}, {"implementation", "host-python"}, {"output_dir", "run"}});
    const auto run = created.substr(5, created.find('\n') - 5);
    CHECK(called("check_correctness", {{"run", run}}).find("passed: true") != std::string::npos);
    if (gone) std::filesystem::remove_all(folder / "problem");
    return called("benchmark", {{"run", run}, {"version", "v0"}, {"num_trials", 5}});
  }

  std::string said;
};

}  // namespace ratchet::test
