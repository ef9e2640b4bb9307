// The loop as a client drives it, with real workers on the host.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "tests/support/workbench.h"

namespace ratchet {
namespace {

constexpr const char* kWrongKernel =
    "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
    "  for (int i = 0; i < n; ++i) c[i] = a[i] - b[i];\n}\n";

bool warned_of(const Json& answer, const char* code) {
  return std::ranges::any_of(answer.at("warnings"),
                             [&](const Json& one) { return one.at("code") == code; });
}

TEST_CASE("a run goes from v0 to the final report", "[loop]") {
  test::Workbench bench;
  const std::string run = bench.start_run();

  bench.pass(run, "unroll by hand");
  const Json submitted =
      bench.must("submit_kernel", {{"run", run}, {"source", test::good_kernel("element")}});
  CHECK(submitted.at("version") == "v1");
  CHECK(submitted.at("build").at("ok") == true);
  bench.measure_and_cite(run);
  CHECK(bench.must("check_gate", {{"run", run}, {"final", true}}).at("passed") == true);
  bench.must("benchmark", {{"run", run}, {"num_trials", 20}});
  const Json report = bench.must("write_report", {{"run", run}, {"retrospective", "Done."}});

  const auto text = read_file(bench.folder() / "out" / "final_report.md");
  REQUIRE(text);
  CHECK(text->find("Done.") != std::string::npos);
  CHECK(bench.must("run_status", {{"run", run}}).at("integrity").empty());
}

TEST_CASE("a step out of order is refused with the name of the next tool", "[loop]") {
  test::Workbench bench;
  const std::string run = bench.start_run();

  const auto profile = bench.call("profile_kernel", {{"run", run}});
  CHECK(profile.is_error);
  CHECK(profile.text.find("check_correctness") != std::string::npos);
  for (const char* tool : {"write_report", "benchmark"})
    CHECK(bench.call(tool, {{"run", run}}).is_error);
  const auto submit =
      bench.call("submit_kernel", {{"run", run}, {"version", "v1"}, {"source", "x"}});
  CHECK(submit.is_error);
  CHECK(submit.text.find("wrong_stage") == 0);
  CHECK(bench.must("run_status", {{"run", run}}).at("stage") == "built");
}

TEST_CASE("a compile error costs no retry and names its line", "[loop][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "try something");

  const Json broken =
      bench.must("submit_kernel", {{"run", run},
                                   {"source",
                                    "extern \"C\" void solve(const float* a, const float* b, "
                                    "float* c, int n) {\n  nonsense;\n}\n"}});

  CHECK(broken.at("build").at("ok") == false);
  CHECK(broken.at("build").at("errors").at(0).at("line") == 2);
  CHECK(broken.at("stage") == "open");
  CHECK(bench.must("run_status", {{"run", run}}).at("versions").at(1).at("retries_used") == 0);
}

TEST_CASE("a wrong kernel is detected, costs a retry and reopens the version", "[loop][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "subtract instead");
  bench.must("submit_kernel", {{"run", run}, {"source", kWrongKernel}});

  const Json checked = bench.must("check_correctness", {{"run", run}});

  CHECK(checked.at("passed") == false);
  CHECK_FALSE(checked.at("reasons").empty());
  CHECK(checked.at("stage") == "open");
  CHECK(bench.must("run_status", {{"run", run}}).at("versions").at(1).at("retries_used") == 1);
}

TEST_CASE("a kernel that is wrong on sparse values passes until a search finds it",
          "[loop][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "leave out zeros");
  const std::string cheat =
      "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
      "  int zeros = 0;\n  for (int i = 0; i < n; ++i) zeros += a[i] == 0;\n"
      "  for (int i = 0; i < n; ++i) c[i] = n > 20 && zeros >= 0.88 * n ? 0 : a[i] + b[i];\n}\n";
  bench.must("submit_kernel", {{"run", run}, {"source", cheat}});

  const Json found = bench.must("check_correctness", {{"run", run}, {"search", 5}});

  CHECK(found.at("passed") == false);
  CHECK_FALSE(found.at("search").at("kept").empty());
  CHECK(found.at("reasons").at(0).at("message").get<std::string>().find("found by a search") !=
        std::string::npos);
  // Another text of the same kernel: now every check asks.
  bench.must("submit_kernel", {{"run", run}, {"source", cheat + "static int other = 1;\n"}});
  const Json again = bench.must("check_correctness", {{"run", run}});
  CHECK(again.at("passed") == false);
  CHECK_FALSE(again.contains("search"));
}

TEST_CASE("v0's time is not searched, because it is compared with nothing", "[loop][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.must("check_correctness", {{"run", run}, {"search", 1}});

  const auto refused = bench.call("profile_kernel", {{"run", run}, {"search", 1}});

  CHECK(refused.is_error);
  CHECK(refused.text.find("search: v0 is compared with nothing") != std::string::npos);
}

TEST_CASE("invalid input is refused by field name and changes nothing", "[loop]") {
  test::Workbench bench;
  const auto refused = [&](const Json& arguments, const std::string& field) {
    const auto answer = bench.call("create_run", arguments);
    INFO(arguments.dump() << " → " << answer.text);
    CHECK(answer.is_error);
    CHECK(answer.text.find(field) != std::string::npos);
  };
  const std::string out = (bench.folder() / "out").string();

  refused({{"output_dir", out}}, "kernel");
  refused({{"output_dir", out}, {"problem", "no_such"}}, "no_such");
  refused({{"output_dir", out}, {"problem", "vector_add"}, {"dims", {{"n", -4}}}}, "dims.n");
  refused(
      {{"output_dir", out}, {"kernel", {{"path", "/etc/passwd"}}}, {"reference", {{"text", "x"}}}},
      "kernel");
  refused({{"problem", "vector_add"}}, "output_dir");
  refused({{"output_dir", "/tmp/elsewhere"}, {"problem", "vector_add"}}, "--root");
  refused({{"output_dir", bench.folder().string()}, {"problem", "vector_add"}}, "state folder");
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(bench.must("list_runs", Json::object()).at("runs").empty());
}

TEST_CASE("the parent's kernel with other comments is refused before it is built", "[loop][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "try something");
  const auto v0 = read_file(bench.folder() / "out" / "v0" / "kernel.cpp");
  REQUIRE(v0);

  const auto copy =
      bench.call("submit_kernel", {{"run", run}, {"source", "// faster now\n" + *v0 + "\n"}});

  CHECK(copy.is_error);
  CHECK(copy.text.find("source: the kernel equals that of the parent") != std::string::npos);
  CHECK(bench.must("run_status", {{"run", run}}).at("stage") == "open");
}

TEST_CASE("a used output folder is refused before anything is built, a free one is not", "[loop]") {
  test::Workbench bench;
  const auto out = bench.folder() / "used";
  std::filesystem::create_directories(out / "notes");
  const Json broken{
      {"kernel", {{"text", "extern \"C\" void solve(const float* x, float* y, int n) { no }"}}},
      {"reference", {{"text", "extern \"C\" void reference(const float* x, float* y, int n) {}"}}},
      {"implementation", "host-cpp"},
      {"dims", {{"n", 64}}}};
  const auto refused = [&](const std::filesystem::path& folder) {
    Json arguments = broken;
    arguments["output_dir"] = folder.string();
    return bench.call("create_run", arguments).text;
  };
  CHECK(refused(out).find("output_dir: " + out.string() + " is not empty") != std::string::npos);
  CHECK(refused(bench.folder() / "free").find("v0 does not build") != std::string::npos);
}

TEST_CASE("a submitted file keeps its name in the compiler's messages", "[loop][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "try something");
  const auto path = bench.folder() / "wide_loads.cpp";
  REQUIRE(write_file(path,
                     "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
                     "  nonsense;\n}\n"));
  const Json by_file = bench.must("submit_kernel", {{"run", run}, {"path", path.string()}});
  CHECK(by_file.at("build").at("errors").at(0).at("file") == "wide_loads.cpp");

  const Json other = bench.must(
      "submit_kernel",
      {{"run", run},
       {"source",
        "\nextern \"C\" void solve(const float* a, const double* b, float* c, int n) {}"}});
  const Json error = other.at("build").at("errors").at(0);
  CHECK(error.at("file") == "kernel.cpp");
  CHECK(error.at("line") == 2);
  CHECK(error.at("message").get<std::string>().find(
            "parameter 2 of solve is b (pointer to float64), but that of the contract is b") !=
        std::string::npos);
  CHECK(other.at("build").at("hint").get<std::string>().find("a, b, c, n") != std::string::npos);
}

TEST_CASE("a benchmark names the version that it measured", "[loop][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "try something");
  const Json answer = bench.must("benchmark", {{"run", run}, {"version", "v0"}, {"num_trials", 5}});
  CHECK(answer.at("version") == "v1");
  CHECK(answer.at("measured") == "v0");
}

TEST_CASE("a run whose reference answers at the given sizes only is warned, and checked there",
          "[tools][slow]") {
  test::Workbench bench;
  const auto created = [&](const std::string& folder, const Json& more) {
    Json arguments{
        {"kernel", {{"text", "def run_kernel(x, y, n):\n    y[:] = 2 * x\n"}}},
        {"reference",
         {{"text",
           "def reference(x, y, n):\n    if n != 1000: raise ValueError('of 1000 only')\n"
           "    y[:] = 2 * x\n"}}},
        {"implementation", "host-python"},
        {"dims", {{"n", 1000}}},
        {"tensors",
         {{{"name", "x"}, {"dtype", "float32"}, {"shape", {"n"}}, {"role", "in"}},
          {{"name", "y"}, {"dtype", "float32"}, {"shape", {"n"}}, {"role", "out"}}}},
        {"output_dir", (bench.folder() / "runs" / folder).string()}};
    arguments.update(more);
    return arguments;
  };
  const auto alone = bench.must("create_run", created("a", Json::object()));
  CHECK(warned_of(alone, "given_sizes_only"));
  const auto checked = bench.must("check_correctness", {{"run", alone.at("run")}});
  CHECK(checked.at("passed") == true);

  const auto related = bench.must("create_run", created("b", {{"where", {"n == 1000"}}}));
  CHECK_FALSE(warned_of(related, "given_sizes_only"));

  const auto refused = bench.call("create_run", created("c", {{"any_size", true}}));
  CHECK(refused.text.find("any_size: the reference has no answer at n=") != std::string::npos);
  CHECK(refused.text.find("of 1000 only") != std::string::npos);
}

TEST_CASE("a run whose v0 takes any size asks that of every version, unless told not to",
          "[tools][slow]") {
  test::Workbench bench;
  const std::string head = "extern \"C\" void solve(const float* x, float* y, int n) {\n";
  const std::string reference =
      "extern \"C\" void reference(const float* x, float* y, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
  const auto created = [&](const std::string& body, const std::string& folder, const Json& more) {
    Json arguments{{"kernel", {{"text", head + body + "}\n"}}},
                   {"reference", {{"text", reference}}},
                   {"implementation", "host-cpp"},
                   {"dims", {{"n", 1024}}},
                   {"output_dir", (bench.folder() / "runs" / folder).string()}};
    arguments.update(more);
    const auto answer = bench.must("create_run", arguments);
    return std::pair(answer.value("any_size", false), warned_of(answer, "aligned_sizes_only"));
  };
  const std::string any = "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n";
  const std::string blocks =
      "  for (int b = 0; b < n / 16; ++b)\n"
      "    for (int i = 16 * b; i < 16 * b + 16; ++i) y[i] = 2 * x[i];\n";

  CHECK(created(any, "a", Json::object()) == std::pair(true, false));
  CHECK(created(any, "b", {{"any_size", false}}) == std::pair(false, false));
  CHECK(created(blocks, "c", Json::object()) == std::pair(false, true));
}

}  // namespace
}  // namespace ratchet
