// What the answers say to a model: short, the important first, nothing twice.

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/workbench.h"

namespace ratchet {
namespace {

bool says(const ToolAnswer& answer, const std::string& words) {
  return answer.text.find(words) != std::string::npos;
}

TEST_CASE("a check that passed is a line a size with its worst error", "[text]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  const auto answer = bench.call("check_correctness", {{"run", run}});
  INFO(answer.text);
  CHECK(answer.text.starts_with("passed: true\n- n=4096: "));
  CHECK(says(answer, " passed, max_abs "));
  CHECK(says(answer, "- hidden sizes: "));
  CHECK_FALSE(says(answer, "reasons"));
  // A row for each execution is in the structure.
  CHECK(answer.structured.at("cases").size() > 20);
  CHECK(answer.text.size() < 700);
}

TEST_CASE("a check that failed says first what failed, row by row", "[text][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "subtract");
  bench.must("submit_kernel",
             {{"run", run},
              {"source",
               "extern \"C\" void solve(const float* a, const float* b, float* c, int n) {\n"
               "  for (int i = 0; i < n; ++i) c[i] = i == 4095 ? 0 : a[i] + b[i];\n}\n"}});
  const auto answer = bench.call("check_correctness", {{"run", run}});
  INFO(answer.text);
  CHECK(answer.text.starts_with("passed: false\n"));
  const auto failed = answer.text.find("- FAILED n=4096, normal, seed 0: 1 elements out of");
  REQUIRE(failed != std::string::npos);
  CHECK(failed < answer.text.find(" passed, max_abs "));
}

TEST_CASE("a build is told without the compiler's line, and a failed one with its errors",
          "[text][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run();
  bench.pass(run, "rename");
  const auto good =
      bench.call("submit_kernel", {{"run", run}, {"source", test::good_kernel("at")}});
  INFO(good.text);
  CHECK(says(good, "build: ok=true  toolchain=g++"));
  for (const char* dropped : {"-O3", "source_digest", "warnings", "hint"})
    CHECK_FALSE(says(good, dropped));
  CHECK(good.structured.at("build").at("command").get<std::string>().find("-O3") !=
        std::string::npos);

  const auto bad = bench.call("submit_kernel", {{"run", run}, {"source", "int solve("}});
  INFO(bad.text);
  CHECK((bad.is_error || says(bad, "errors:")));
}

TEST_CASE("hits say first how well they fit, without digests and licenses", "[text]") {
  test::Workbench bench;
  const auto answer = bench.call("query_kbs", {{"query", "vectorized loads"}});
  INFO(answer.text);
  CHECK(answer.text.starts_with("weak: false\nrelaxed: all\nquery_id: q-"));
  for (const char* dropped : {"content_digest", "license"}) CHECK_FALSE(says(answer, dropped));
  CHECK(answer.structured.at("results").size() == 5);
  CHECK(answer.structured.at("results").at(0).contains("content_digest"));
}

TEST_CASE("a version costs at most 3,000 tokens to read, from its kernel to its gate",
          "[text][slow]") {
  test::Workbench bench;
  const std::string run = bench.start_run({{"iterations", 2}});
  bench.pass(run, "first");
  std::size_t bytes = 0;
  const auto read = [&](const char* tool, const Json& arguments) {
    const auto answer = bench.call(tool, arguments);
    INFO(tool << ": " << answer.text);
    REQUIRE_FALSE(answer.is_error);
    bytes += answer.text.size();
    return answer.structured;
  };
  read("submit_kernel",
       {{"run", run}, {"source", "#pragma GCC optimize(\"O3\")\n" + test::good_kernel("at")}});
  read("check_correctness", {{"run", run}});
  read("profile_kernel", {{"run", run}});
  Json selected;
  for (const char* purpose : {"kernel", "bottleneck"}) {
    const auto found =
        read("query_kbs",
             {{"run", run}, {"purpose", purpose}, {"query", "memory bandwidth bound on a CPU"}});
    selected = {{"id", found.at("results").at(0).at("id")},
                {"query_id", found.at("query_id")},
                {"applies_because", "it streams"}};
  }
  read("run_status", {{"run", run}});
  read("write_kbs_evidence", {{"run", run},
                              {"facts", {"median_ns"}},
                              {"selected", {selected}},
                              {"decision_link", "bandwidth → fewer bytes"}});
  const auto written =
      read("write_hypothesis", {{"run", run},
                                {"category", "memory"},
                                {"change", "second"},
                                {"rationale", "fewer bytes"},
                                {"expected", {{{"metric", "median_ns"}, {"direction", "down"}}}},
                                {"risk", "none"},
                                {"evidence", {selected.at("id")}},
                                {"accept_if", "speedup >= 1000"},
                                {"reject_if", "slower"}});
  CHECK(written.at("evaluated") == "accept_if speedup >= 1000");
  read("check_gate", {{"run", run}});
  CHECK(bytes < 3000 * 4);

  // The next version tests it, and its gate says what came out.
  read("submit_kernel", {{"run", run}, {"source", test::good_kernel("place")}});
  bench.measure_and_cite(run);
  const auto gate = read("check_gate", {{"run", run}, {"final", true}});
  INFO(gate.dump());
  CHECK(gate.at("hypothesis")
            .get<std::string>()
            .starts_with("rejected: ¦ accept_if: speedup >= 1000 does not hold: measured "));
}

}  // namespace
}  // namespace ratchet
