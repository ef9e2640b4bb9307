// The tools that inspect a version without changing its stage, on the host.

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "server/core/files.h"
#include "server/core/process.h"
#include "tests/support/places.h"
#include "tests/support/workbench.h"

namespace ratchet {
namespace {

TEST_CASE("a host kernel's machine code is shown in pages with counts per function", "[analysis]") {
  if (!find_program("objdump")) SKIP("binutils is not installed");
  test::Workbench bench;
  const std::string run = bench.start_run();
  const Json page = bench.must("disassemble", {{"run", run}, {"function", "solve"}});

  CHECK(page.at("version") == "v0");
  CHECK(page.at("disassembler").get<std::string>().starts_with("objdump "));
  CHECK(page.at("shown") == "solve");
  CHECK(page.at("text").get<std::string>().find("ret") != std::string::npos);
  CHECK(page.at("functions").at(0).at("instructions").get<int>() > 5);
  const auto wrong = bench.call("disassemble", {{"run", run}, {"function", "nothing"}});
  CHECK(wrong.is_error);
  CHECK(wrong.text.find("The binary has: ") != std::string::npos);
}

constexpr const char* kAdd =
    "__global__ void add(const float* x, float* y, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] += x[i];\n}\n"
    "extern \"C\" void solve(const float* x, float* y, int n) {\n"
    "  add<<<(n + 255) / 256, 256>>>(x, y, n);\n}\n";

TEST_CASE("a CUDA kernel is built for a GPU that is not here, and not judged", "[analysis][slow]") {
  if (!find_program("nvcc")) SKIP("nvcc is not installed");
  test::Workbench bench;

  const Json built = bench.must("disassemble", {{"kernel", {{"text", kAdd}}}, {"arch", "sm_90"}});
  const Json broken = bench.must(
      "disassemble",
      {{"kernel", {{"text", "extern \"C\" void solve(float* y) { y = 1; }"}}}, {"arch", "sm_90"}});

  CHECK(built.at("build").at("ok") == true);
  CHECK(built.at("build").at("registers").get<int>() > 0);
  CHECK(built.at("note").get<std::string>().starts_with("It was only built: neither run, nor"));
  CHECK_FALSE(built.contains("version"));
  // Either machine code, or why there is none.
  const bool shown = !built.at("text").get<std::string>().empty();
  CHECK(shown ==
        (built.at("note").get<std::string>().find("No machine code") == std::string::npos));
  CHECK(broken.at("build").at("ok") == false);
  CHECK_FALSE(broken.at("build").at("errors").empty());
}

TEST_CASE("a HIP kernel is built for an AMD GPU and shown, and a run refuses it",
          "[analysis][slow]") {
  if (!find_program("hipcc")) SKIP("hipcc is not installed");
  test::Workbench bench;
  const std::string text = std::string("#include <hip/hip_runtime.h>\n") + kAdd;
  const Json kernel{{"text", text}};

  const Json built = bench.must(
      "disassemble", {{"kernel", kernel}, {"implementation", "hip-cpp"}, {"arch", "gfx90a"}});
  const auto refused =
      bench.call("create_run", {{"kernel", kernel},
                                {"implementation", "hip-cpp"},
                                {"reference", {{"text", kAdd}}},
                                {"dims", {{"n", 64}}},
                                {"output_dir", (bench.folder() / "new").string()}});

  CHECK(built.at("build").at("ok") == true);
  CHECK(built.at("build").at("registers").get<int>() > 0);
  CHECK(built.at("shown") == "add");
  CHECK(built.at("text").get<std::string>().find("global_store_dword") != std::string::npos);
  CHECK(built.at("note").get<std::string>().find("nothing here runs on AMD GPUs") !=
        std::string::npos);
  CHECK(refused.is_error);
  CHECK(refused.text.find("disassemble builds it") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(bench.folder() / "new"));
}

TEST_CASE("a source without a run is a compiled kernel with a target", "[analysis]") {
  test::Workbench bench;
  const auto text = [&](const Json& arguments) {
    const auto answer = bench.call("disassemble", arguments);
    CHECK(answer.is_error);
    return answer.text;
  };
  const Json kernel{{"text", kAdd}};

  CHECK(text(Json::object()).find("run, kernel: give exactly one") != std::string::npos);
  CHECK(text({{"kernel", {{"text", "int nothing;"}}}, {"arch", "sm_90"}}).find("solve") !=
        std::string::npos);
  CHECK(text({{"kernel", kernel}, {"arch", "fast"}}).find("arch: \"fast\"") != std::string::npos);
  CHECK(text({{"kernel", kernel}, {"implementation", "triton"}}).find("compiled when it runs") !=
        std::string::npos);
}

TEST_CASE("a host kernel without a run is built and shown", "[analysis]") {
  if (!find_program("objdump")) SKIP("binutils is not installed");
  test::Workbench bench;

  const Json page = bench.must(
      "disassemble", {{"kernel", {{"text", "extern \"C\" void solve(float* y) { *y = 1; }"}}},
                      {"implementation", "host-cpp"}});

  CHECK(page.at("build").at("ok") == true);
  CHECK(page.at("shown") == "solve");
}

TEST_CASE("a build that fails says how to go on, also when a run is created", "[analysis]") {
  test::Workbench bench;
  const std::string parameters = "(const float* x, float* y, int n) {}";
  const auto created = [&](const std::string& kernel, const std::string& reference) {
    const auto answer =
        bench.call("create_run", {{"kernel", {{"text", kernel}}},
                                  {"reference", {{"text", reference}}},
                                  {"implementation", "host-cpp"},
                                  {"dims", {{"n", 64}}},
                                  {"output_dir", (bench.folder() / "new").string()}});
    CHECK(answer.is_error);
    return answer.text;
  };
  const std::string entry = "extern \"C\" void solve" + parameters;
  const std::string reference = "extern \"C\" void reference" + parameters;
  const std::string missing = "#include \"no_such_header.h\"\n";

  const auto kernel_text = created(missing + entry, reference);
  const auto reference_text = created(entry, missing + reference);

  CHECK(kernel_text.find("v0 does not build (missing_header)") != std::string::npos);
  CHECK(kernel_text.find("Then call create_run again") != std::string::npos);
  CHECK(kernel_text.find("Fix the source. Then") == std::string::npos);
  CHECK(reference_text.find("the reference ref.cpp does not build") != std::string::npos);
  CHECK(reference_text.find("Fix the reference and create") == std::string::npos);
}

TEST_CASE("methods are never verified in host code", "[analysis]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const Json answer = bench.must("check_sass", {{"run", run}, {"methods", {"tensor_core"}}});

  CHECK(answer.at("methods").at(0).at("verdict") == "unknown");
  CHECK(answer.at("unavailable").get<std::string>().find("host") != std::string::npos);
  CHECK(answer.at("stage") == "built");
  const auto artifact = read_file(bench.folder() / "out" / "v0" / "sass_check.json");
  REQUIRE(artifact);
  CHECK(artifact->find("\"candidate_digest\"") != std::string::npos);
  CHECK(bench.must("run_status", {{"run", run}}).at("integrity").empty());
}

TEST_CASE("the error for an unknown method or version names it", "[analysis]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const auto method = bench.call("check_sass", {{"run", run}, {"methods", {"magic"}}});
  CHECK(method.is_error);
  CHECK(method.text.find("magic") != std::string::npos);
  const auto version = bench.call("disassemble", {{"run", run}, {"version", "v7"}});
  CHECK(version.is_error);
  CHECK(version.text.find("v7") != std::string::npos);
}

/// The member names of a JSON object in a file.
std::vector<std::string> keys_of(const std::filesystem::path& path) {
  const auto text = read_file(path);
  REQUIRE(text);
  const Json object = Json::parse(*text);
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST_CASE("profile_kernel and roofline write roofline.json with the same fields",
          "[analysis][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.must("check_correctness", {{"run", run}});
  bench.must("profile_kernel", {{"run", run}});
  const auto path = bench.folder() / "out" / "v0" / "roofline.json";
  const auto by_profile = keys_of(path);
  bench.must("roofline", {{"run", run}});

  CHECK(std::ranges::find(by_profile, "levels") != by_profile.end());
  CHECK(std::ranges::find(by_profile, "budget") != by_profile.end());
  CHECK(keys_of(path) == by_profile);
}

TEST_CASE("an imported table is recorded and never counts as measured here", "[analysis][import]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const auto table = bench.folder() / "raw.csv";
  std::filesystem::copy_file(test::source_dir() / "tests/kernels/ncu/raw.csv", table);
  const Json answer = bench.must("import_profile", {{"run", run}, {"path", table.string()}});

  CHECK(answer.at("binding") == "unbound");
  CHECK(answer.at("format") == "csv_raw");
  REQUIRE(answer.at("launches").size() == 2);
  CHECK(answer.at("launches")[0].at("duration_ns").get<double>() == Catch::Approx(31264));
  CHECK(answer.at("stage") == "built");
  const auto artifact = read_file(bench.folder() / "out" / "v0" / "imported_profile.json");
  REQUIRE(artifact);
  CHECK(Json::parse(*artifact).at("source") == "imported");
  const auto measured = bench.must("run_status", {{"run", run}});
  CHECK(measured.at("integrity").empty());
  CHECK_FALSE(measured.at("versions")[0].contains("bound"));
}

TEST_CASE("a report about an AMD GPU is imported beside what the wiki documents of it",
          "[analysis][import]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const auto report = bench.folder() / "results.json";
  std::filesystem::copy_file(test::source_dir() / "tests/kernels/rocprof/results.json", report);
  const Json answer = bench.must("import_profile", {{"run", run}, {"path", report.string()}});

  CHECK(answer.at("format") == "rocprofv3_json");
  CHECK(answer.at("device") == "AMD Instinct MI300X");
  CHECK(answer.at("binding") == "unbound");
  REQUIRE(answer.at("launches").size() == 3);  // one of them without a symbol
  // 16384.5 kB in 20 µs are 0.839 TB/s of 5.3.
  CHECK(answer.at("launches")[0].at("bandwidth_pct").get<double>() ==
        Catch::Approx(15.83).epsilon(1e-3));
  CHECK_FALSE(bench.must("run_status", {{"run", run}}).at("versions")[0].contains("bound"));
}

TEST_CASE("a file that is not a report is refused, and nothing is written", "[analysis][import]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const auto text = bench.folder() / "notes.csv";
  REQUIRE(write_file(text, "a,b\n1,2\n"));
  const auto refused = bench.call("import_profile", {{"run", run}, {"path", text.string()}});
  CHECK(refused.is_error);
  CHECK(refused.text.find("not CSV of Nsight Compute") != std::string::npos);
  const auto report = bench.folder() / "profile.ncu-rep";
  REQUIRE(write_file(report, std::string("NVR\0\2", 5)));
  const auto damaged = bench.call("import_profile", {{"run", run}, {"path", report.string()}});
  CHECK(damaged.is_error);
  // The message names ncu, whether ncu is missing or cannot read the file.
  CHECK(damaged.text.find("ncu") != std::string::npos);
  CHECK_FALSE(read_file(bench.folder() / "out" / "v0" / "imported_profile.json"));
}

TEST_CASE("ncu is refused for host kernels", "[analysis]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.must("check_correctness", {{"run", run}});
  const auto refused = bench.call("profile_kernel", {{"run", run}, {"engine", "ncu"}});
  CHECK(refused.is_error);
  CHECK(refused.text.find("engine: ") != std::string::npos);
  CHECK(bench.must("run_status", {{"run", run}}).at("stage") == "correct");
}

}  // namespace
}  // namespace ratchet
