// What the walls around foreign code cost: the start of a worker with walls and without, in turns,
// and on request the demo. Without: the same programs, built so that a test can take walls out
// (kernels/confine/test_switch.h). A control group is around both.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/process/candidate_process.h"
#include "kernels/process/private_folder.h"
#include "server/core/files.h"
#include "server/core/process.h"
#include "server/facts/order_statistics.h"

namespace ratchet::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr const char* kNone = "RATCHET_TEST_WITHOUT=seccomp,landlock,root,user,limits";
constexpr std::size_t kArena = std::size_t{1} << 20U;
constexpr double kMostMore = 15;  // ms: the aim

struct Options {
  std::size_t starts = 50;  ///< of each
  std::size_t demos = 0;    ///< of each
};

void print_row(const std::string& what, std::vector<double> values, const char* unit) {
  std::ranges::sort(values);
  fmt::print("| {} | {:.1f} {} | {:.1f} | {:.1f} | {} |\n", what, sorted_quantile(values, 0.5),
             unit, sorted_quantile(values, 0.05), sorted_quantile(values, 0.95), values.size());
}

/// Until the worker says that it is ready, which it does within its walls.
Result<double> start_ms(const fs::path& build, bool walls) {
  auto spec = worker_spec(
      {build / (walls ? "bin" : "walls-open"), DeviceKind::host, 0, std::chrono::seconds(30)},
      "candidate", kArena);
  if (!walls) spec.environment.emplace_back(kNone);
  const auto begin = steady_clock::now();
  const auto worker = WorkerProcess::start(spec, {});
  const Milliseconds spent = steady_clock::now() - begin;
  if (!worker) return worker.error();
  if (walls != (worker->walls().find("(taken out)") == std::string::npos))
    return unavailable("the worker's walls are not those asked for: " + worker->walls());
  return spent.count();
}

/// The programs of a server whose workers and compilers start without walls.
Status open_programs(const fs::path& build, const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder / "bin", failed);
  fs::create_directory_symlink(build / "share", folder / "share", failed);
  for (const auto* name : {"ratchet", "ratchet-nvrtc", "libratchet-embedded.so"})
    fs::copy_file(build / "bin" / name, folder / "bin" / name, failed);
  for (const std::string name : {"ratchet-worker", "ratchet-confine"}) {
    const auto file = folder / "bin" / name;
    if (auto written = write_file(file, fmt::format("#!/bin/sh\nexport {}\nexec {} \"$@\"\n", kNone,
                                                    (build / "walls-open" / name).string()));
        !written)
      return written;
    fs::permissions(file, fs::perms::owner_all, failed);
  }
  return {};
}

/// A whole demo on the processor with a state folder of its own.
Result<double> demo_s(const fs::path& ratchet) {
  const auto folder = PrivateFolder::make();
  if (!folder) return folder.error();
  auto environment = inherited_environment({"PATH", "RATCHET_PYTHON"});
  for (const auto* name : {"HOME=", "XDG_STATE_HOME="})
    environment.push_back(name + folder->path().string());
  auto ran = run_program({.argv = {ratchet.string(), "demo", "--implementation", "host-cpp",
                                   "--output", (folder->path() / "run").string()},
                          .environment = std::move(environment),
                          .folder = folder->path()},
                         std::chrono::minutes(20));
  if (!ran) return ran.error();
  if (!ran->status.clean()) return unavailable("the demo failed: " + ran->err);
  return std::chrono::duration<double>(ran->elapsed).count();
}

Status measure(const Options& options, const fs::path& build) {
  std::array<std::vector<double>, 2> starts, demos;  // without walls, with walls
  std::vector<double> more;
  for (std::size_t i = 0; i < options.starts; ++i) {
    for (const bool walls : {i % 2 == 0, i % 2 != 0}) {
      const auto spent = start_ms(build, walls);
      if (!spent) return spent.error();
      starts[walls ? 1 : 0].push_back(*spent);
    }
    more.push_back(starts[1].back() - starts[0].back());
  }
  fmt::print("| what | median | 5 % | 95 % | n |\n|---|---|---|---|---|\n");
  print_row("a worker's start without walls", starts[0], "ms");
  print_row("with walls", starts[1], "ms");
  print_row(fmt::format("more, in pairs (aim: {:.0f})", kMostMore), more, "ms");
  if (options.demos == 0) return {};
  const auto open = PrivateFolder::make();
  if (!open) return open.error();
  if (auto made = open_programs(build, open->path()); !made) return made;
  for (std::size_t i = 0; i < options.demos; ++i)
    for (const bool walls : {i % 2 == 0, i % 2 != 0}) {
      const auto spent = demo_s((walls ? build : open->path()) / "bin/ratchet");
      if (!spent) return spent.error();
      demos[walls ? 1 : 0].push_back(*spent);
    }
  print_row("the demo without walls", demos[0], "s");
  print_row("with walls", demos[1], "s");
  return {};
}

}  // namespace
}  // namespace ratchet::bench

int main(int argc, char** argv) try {
  CLI::App app("What the walls around foreign code cost.");
  ratchet::bench::Options options;
  app.add_option("--starts", options.starts, "Starts of a worker, with walls and without")
      ->check(CLI::PositiveNumber);
  app.add_option("--demos", options.demos, "Demos, with walls and without; each takes minutes");
  CLI11_PARSE(app, argc, argv);
  const auto build = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path();
  const auto measured = ratchet::bench::measure(options, build);
  if (!measured) fmt::print(stderr, "{}\n", measured.error().message);
  return measured ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench-walls: %s\n", error.what());
  return 1;
}
