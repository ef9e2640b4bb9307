// Methods, branches, ablations and dispatchers, with real kernels on the host.

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "server/core/files.h"
#include "tests/support/workbench.h"
#include "tools/grid.h"

namespace ratchet {
namespace {

/// vector_add that repeats its work `times` times, and eight times as often if the macro of
/// kernel_fusion is set.
std::string slow_kernel(const std::string& name, int times) {
  return "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
         "#ifdef ABLATE_memory_kernel_fusion\n  const int times = " +
         std::to_string(times * 8) + ";\n#else\n  const int times = " + std::to_string(times) +
         ";\n#endif\n  for (int " + name + " = 0; " + name + " < times; ++" + name +
         ")\n    for (int i = 0; i < n; ++i) {\n"
         "      volatile float sum = a[i] + b[i];\n      c[i] = sum;\n    }\n}\n";
}

/// A run with v1 open whose v0 repeats its work 24 times.
std::string open_run(test::Workbench& bench, const Json& more = Json::object()) {
  Json arguments{{"output_dir", (bench.folder() / "out").string()},
                 {"implementation", "host-cpp"},
                 {"kernel", {{"text", slow_kernel("again", 24)}}},
                 {"reference",
                  {{"text",
                    "extern \"C\" void reference(const float* a, const float* b, float* c, int n) "
                    "{\n  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];\n}\n"}}},
                 {"dims", {{"n", 16384}}},
                 {"work", {{"bytes", "12*n"}, {"flops", "n"}}},
                 {"iterations", 1}};
  arguments.update(more);
  const std::string run = bench.must("create_run", arguments).at("run");
  bench.pass(run, "do the work fewer times");
  return run;
}

/// The first methods of each axis that the run may take, as many as the budget allows.
Json proposal(test::Workbench& bench, const std::string& run) {
  const Json list = bench.must("list_methods", {{"run", run}});
  Json methods = Json::array();
  for (const char* axis : {"compute", "memory", "latency"}) {
    int left = list.at("budget").at(axis);
    for (const Json& method : list.at("methods")) {
      const std::string id = method.at("id");
      if (left == 0 || method.contains("excluded") || !id.starts_with(axis)) continue;
      methods.push_back({{"id", id}});
      --left;
    }
  }
  return methods;
}

TEST_CASE("methods, branches and an ablation take a version from open to attributed",
          "[search][timed]") {
  test::Workbench bench;
  const std::string run = open_run(bench);
  const auto early =
      bench.call("explore_branches", {{"run", run}, {"branches", {{{"source", "int x;"}}}}});
  CHECK(early.is_error);
  CHECK(early.text.find("propose_methods") != std::string::npos);
  const Json proposed =
      bench.must("propose_methods", {{"run", run}, {"methods", proposal(bench, run)}});
  INFO(proposed.dump(2));
  REQUIRE(proposed.at("accepted") == true);

  const Json explored =
      bench.must("explore_branches",
                 {{"run", run},
                  {"branches",
                   {{{"source", slow_kernel("again", 6)}, {"note", "six"}},
                    {{"source", slow_kernel("again", 2)}, {"note", "two"}},
                    {{"source",
                      "extern \"C\" void solve(const float* a, const float* b, float* c, int n) "
                      "{ nonsense; }"}},
                    {{"source", test::good_kernel("i") + "// wrong\n"}, {"note", "plain"}}}}});
  INFO(explored.dump(2));
  REQUIRE(explored.contains("champion"));
  CHECK(explored.at("stage") == "correct");
  CHECK(explored.at("branches").at(2).at("status") == "build_failed");
  CHECK(explored.at("branches").at(0).at("status") == "frontier");
  bench.must("profile_kernel", {{"run", run}});
  const Json ablated = bench.must("ablate", {{"run", run}, {"methods", {"memory.kernel_fusion"}}});
  INFO(ablated.dump(2));
  CHECK(std::filesystem::exists(bench.folder() / "out/v1/attribution.json"));
  CHECK(ablated.at("attribution").size() == 1);
  CHECK(bench.must("run_status", {{"run", run}}).at("integrity").empty());
}

TEST_CASE("an ablation measures what a macro switches off", "[search][timed]") {
  test::Workbench bench;
  const std::string run = open_run(bench);
  bench.must("submit_kernel", {{"run", run}, {"source", slow_kernel("again", 2)}});
  bench.measure_and_cite(run);

  const Json ablated = bench.must(
      "ablate", {{"run", run}, {"methods", {"memory.kernel_fusion", "memory.tiling_smem"}}});
  INFO(ablated.dump(2));
  for (const Json& one : ablated.at("attribution")) {
    const bool real = one.at("id") == "memory.kernel_fusion";
    CHECK(one.at("class") == (real ? "effective" : "inconclusive"));  // tiling has no macro here
    if (real) CHECK(one.at("delta_ns").get<double>() > 0);
  }
}

/// Fast below n = 40000 and slow above, or the reverse. Multiplies so often that its time does not
/// depend on where its buffers happen to lie.
std::string one_sided(bool small) {
  return std::string("#define LIMIT 40000\nnamespace { int often(int n) { return (n < LIMIT) == ") +
         (small ? "true" : "false") +
         " ? 1 : 20; } }\n"
         "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
         "  float one = 1;\n  asm volatile(\"\" : \"+x\"(one));\n"
         "  for (int k = 0; k < often(n); ++k)\n    for (int i = 0; i < n; ++i) {\n"
         "      float sum = a[i] + b[i];\n"
         "      for (int r = 0; r < 16; ++r) {\n        sum *= one;\n"
         "        asm volatile(\"\" : \"+x\"(sum));\n      }\n"
         "      c[i] = sum;\n    }\n}\n";
}

TEST_CASE("a dispatcher is generated, checked on all cases and not slower than its fallback",
          "[search][timed]") {
  test::Workbench bench;
  const std::string run =
      open_run(bench, {{"cases", {{{"dims", {{"n", 20000}}}}, {{"dims", {{"n", 65536}}}}}},
                       {"dims", Json::object()},
                       {"iterations", 2}});
  bench.must("submit_kernel", {{"run", run}, {"source", one_sided(true)}});
  bench.pass(run, "the other way round");
  bench.must("submit_kernel", {{"run", run}, {"source", one_sided(false)}});
  bench.measure_and_cite(run);
  REQUIRE(bench.must("check_gate", {{"run", run}, {"final", true}}).at("passed") == true);

  // Where a process's memory happens to lie can cost it several percent: asked again, it lies anew.
  Json tuned = Json::object();
  for (int i = 0; i < 4 && tuned.value("verdict", "") != "accepted"; ++i)
    tuned = bench.must("tune_dispatch", {{"run", run}, {"variants", {"v1", "v2"}}});
  INFO(tuned.dump(2));
  CHECK(tuned.at("verdict") == "accepted");
  CHECK(tuned.at("routes").at(0).at("variant") == "v1");
  CHECK(tuned.at("routes").at(1).at("variant") == "v2");
  for (const char* file :
       {"benchmarks/performance-map.json", "ledgers/tuning-decisions.md", "dispatch/kernel.cpp"})
    CHECK(std::filesystem::exists(bench.folder() / "out" / file));
}

TEST_CASE("a run forks from a correct version and keeps its contract", "[search][slow]") {
  test::Workbench bench;
  const std::string run = open_run(bench);

  const Json forked = bench.must("create_run", {{"fork_from", {{"run", run}, {"version", "v0"}}},
                                                {"output_dir", (bench.folder() / "fork").string()},
                                                {"iterations", 2}});
  CHECK(forked.at("run") != run);
  CHECK(forked.at("stage") == "built");
  const auto refused =
      bench.call("create_run", {{"fork_from", {{"run", run}, {"version", "v1"}}},
                                {"output_dir", (bench.folder() / "other").string()}});
  CHECK(refused.is_error);
  CHECK(refused.text.find("v1") != std::string::npos);
}

/// slow_kernel with the number of repetitions as a macro.
std::string tunable_kernel() {
  return "#ifndef TIMES\n#define TIMES 24\n#endif\nconstexpr int kStep = 1;\n"
         "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
         "  for (int again = 0; again < TIMES; ++again)\n"
         "    for (int i = 0; i < n; i += kStep) {\n"
         "      volatile float sum = a[i] + b[i];\n      c[i] = sum;\n    }\n}\n";
}

TEST_CASE("a sweep finds the fastest correct point of a grid in one call", "[search][timed]") {
  test::Workbench bench;
  const std::string run = open_run(bench);
  REQUIRE(bench.must("propose_methods", {{"run", run}, {"methods", proposal(bench, run)}})
              .at("accepted") == true);

  // With a step of 2 half of the answer is missing: fast, and wrong.
  const Json swept = bench.must("explore_branches", {{"run", run},
                                                     {"branches", {{{"source", tunable_kernel()}}}},
                                                     {"grid", {"TIMES=1,6,16,48", "kStep=1,2"}}});

  INFO(swept.dump(2));
  REQUIRE(swept.at("branches").size() == 8);
  REQUIRE(swept.contains("champion"));
  for (const Json& branch : swept.at("branches")) {
    if (branch.at("name") == swept.at("champion")) CHECK(branch.at("note") == "TIMES=1 kStep=1");
    if (branch.at("note").get<std::string>().ends_with("kStep=2"))
      CHECK(branch.at("status") != "champion");
  }
  const auto kernel =
      read_file(bench.folder() / "out" / "v1" / "kernel.cpp").value_or(std::string("none"));
  CHECK(kernel.find("#define TIMES 1\n") != std::string::npos);
}

TEST_CASE("a grid gives values to macros and constants, where the source sets them", "[search]") {
  const auto with_8 = [](const std::string& source, bool python = false) {
    const auto points = points_of({{"TILE", {"8"}}}, source, python);
    return points ? points->front().text : points.error().message;
  };
  const std::string defined = "#define TILE 8\n#line 1\n";

  CHECK(with_8("  #  define TILE 4\nint x = TILE;\n") == "  #  define TILE 8\nint x = TILE;\n");
  CHECK(with_8("int f(); static constexpr int TILE = 4; int y;") ==
        "int f(); static constexpr int TILE = 8; int y;");
  CHECK(with_8("const int TILE=g(1);\r\n") == "const int TILE=8;\r\n");
  CHECK(with_8("TILE: tl.constexpr = 4  # rows\nx = TILE\n", true) ==
        "TILE: tl.constexpr = 8  # rows\nx = TILE\n");
  // These only use the name, or set another one.
  for (const std::string source : {"#ifdef TILE\n#endif\n", "#define TILE\n", "#define TILE(x) x\n",
                                   "#define TILES 4 // TILE\n", "int TILE = 4;\n",
                                   "const int a = 1, TILE = 4;\n", "const bool b = TILE == 4;\n"})
    CHECK(with_8(source) == defined + source);
  CHECK(with_8("TILES = 4\n  TILE = 4\n", true).find("not a constant") != std::string::npos);
  CHECK(with_8("int MY_TILE;").find("does not mention TILE") != std::string::npos);
}

TEST_CASE("a grid takes sources and values of any length", "[search]") {
  const std::string digits(300'000, '1');
  const Grid grid{{"TILE", {"8"}}};

  CHECK(points_of(grid, "TILE = " + digits, true)->front().text == "TILE = 8");
  CHECK(points_of(grid, "#define TILE " + digits, false)->front().text == "#define TILE 8");
  CHECK(points_of(grid, "const char* const text = \"" + digits + "\"; const int TILE = 4;", false)
            ->front()
            .text.ends_with("TILE = 8;"));
  CHECK(grid_of({"TILE=" + digits})->at("TILE").front() == digits);
}

TEST_CASE("a sweep that cannot tell anything is refused before anything is timed",
          "[search][slow]") {
  test::Workbench bench;
  const std::string run = open_run(bench);
  REQUIRE(bench.must("propose_methods", {{"run", run}, {"methods", proposal(bench, run)}})
              .at("accepted") == true);
  const auto refusal = [&](const std::vector<std::string>& grid, const std::string& source = "") {
    Json arguments{{"run", run}, {"grid", grid}};
    if (!source.empty()) arguments["branches"] = {{{"source", source}}};
    const auto answer = bench.call("explore_branches", arguments);
    CHECK(answer.is_error);
    return answer.text;
  };

  CHECK(refusal({"TILE=8,16"}).find("does not mention TILE") != std::string::npos);
  CHECK(refusal({"times=1,2"}).find("sets times 2 times") != std::string::npos);
  CHECK(refusal({"sum=sum,(sum)"}).find("nothing differs") != std::string::npos);
  CHECK(refusal({"TIMES=1,2,3,4,5,6,7,8", "kStep=1,2,3,4,5,6,7,8,9"}, tunable_kernel())
            .find("the most is 64") != std::string::npos);
  CHECK(refusal({"TIMES 8"}).find("NAME=value") != std::string::npos);
  CHECK(refusal({"TIMES=8,"}).find("empty value") != std::string::npos);
}

TEST_CASE("a profile names the best version and goes on for as long as it may", "[search][timed]") {
  test::Workbench bench;
  const std::string run = open_run(bench);
  bench.must("submit_kernel", {{"run", run}, {"source", slow_kernel("again", 3)}});
  bench.must("check_correctness", {{"run", run}});

  const auto refused = bench.call("profile_kernel", {{"run", run}, {"seconds", 0}});
  CHECK(refused.is_error);
  CHECK(refused.text.find("seconds") != std::string::npos);
  const auto profiled = bench.call("profile_kernel", {{"run", run}, {"seconds", 5}});
  const Json timing = profiled.structured.at("timing");

  INFO(profiled.text);
  CHECK(profiled.text.find("x v0, the best version before: faster\n") != std::string::npos);
  CHECK(timing.at("best") == "v0");
  CHECK(timing.at("verdict_vs_best") == "faster");
  CHECK(timing.at("speedup_vs_best").get<double>() > 2);
}

}  // namespace
}  // namespace ratchet
