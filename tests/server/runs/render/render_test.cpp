// Artifacts: the headings that existing workflows expect, and correct cells.

#include "server/runs/render/render.h"

#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "tests/support/runs_samples.h"

namespace ratchet {
namespace {

using samples::text_of;
using samples::Workshop;

using Lines = std::vector<std::string>;

/// Lines that start with '#', verbatim.
Lines headings(const std::string& text, const std::string& mark = "#") {
  Lines found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(mark)) found.push_back(line);
  return found;
}

/// A cell of the first column's row, by column number.
std::string cell(const std::string& text, const std::string& row, int column) {
  std::istringstream in(text.substr(text.find("\n| " + row + " |") + 1));
  std::string part;
  for (int i = 0; i <= column + 1; ++i) std::getline(in, part, '|');
  return part.substr(1, part.size() - 2);
}

/// v1 is 1.25 times v0 by its profile, and `final_speedup` times by the final benchmark.
Workshop finished(const Contract& frozen = samples::contract(1), double final_speedup = 1.4) {
  Workshop shop(frozen);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 1.25);
  REQUIRE(shop.gate(true).passed);
  const auto granted = shop.permit(Event::benchmarked);
  auto report = samples::benchmark(*granted.candidate, 800);
  report.rows[1].comparison = Comparison{
      "v0", final_speedup, final_speedup - 0.1, final_speedup + 0.1, 50, 0.005, Verdict::faster};
  REQUIRE(shop.runs().record_benchmark(granted, report));
  REQUIRE(shop.runs().write_report(shop.run, "# My heading\nIt went well."));
  return shop;
}

Contract on_gpu() {
  auto frozen = samples::contract(1);
  frozen.device_kind = DeviceKind::cuda;
  frozen.device_name = "Test GPU";
  return frozen;
}

TEST_CASE("env_check.md has its sections in the order workflows expect", "[runs][render]") {
  const Workshop shop;
  CHECK(headings(text_of(shop.out() / "env_check.md")) ==
        Lines{"# Environment Check", "## Status", "## Requirements", "## Implementation Backends",
              "## GPU", "## Tools", "## Environment variables", "## Errors", "## Warnings"});
}

TEST_CASE("correctness.md starts with kernel-opt-agent's sections", "[runs][render]") {
  const Workshop shop;
  shop.check();
  const auto text = text_of(shop.out() / "v0/correctness.md");
  auto found = headings(text);
  found.resize(3);
  CHECK(found == Lines{"# Correctness Check", "## Output Tensors", "## Value Previews"});
  CHECK(cell(text, "Result", 1) == "ALL PASS");
  CHECK(text.find("| Max \\|Δ\\| |") != std::string::npos);  // a bare pipe would break the table
}

TEST_CASE("a failed check shows FAILED and the reason", "[runs][render]") {
  const Workshop shop;
  shop.check(false);
  const auto text = text_of(shop.out() / "v0/correctness.md");
  CHECK(cell(text, "Result", 1) == "FAILED");
  CHECK(text.find("- mismatch: 7 of 1024 elements differ") != std::string::npos);
}

TEST_CASE("sizes of hidden cases are shown only if the kernel fails on them", "[runs][render]") {
  const Workshop passing;
  passing.check();
  for (const char* name : {"contract.json", "v0/correctness.md"})
    CHECK(text_of(passing.out() / name).find("31337") == std::string::npos);
  const Workshop failing;
  failing.check(false);
  CHECK(text_of(failing.out() / "v0/correctness.md").find("n=31337 (hidden case)") !=
        std::string::npos);
}

TEST_CASE("no artifact holds the run's secret", "[runs][render]") {
  const auto shop = finished();
  for (const auto& entry : samples::fs::recursive_directory_iterator(shop.out()))
    if (entry.is_regular_file()) CHECK(text_of(entry.path()).find("a secret") == std::string::npos);
}

TEST_CASE("every artifact names run, version or contract, digests, device and time",
          "[runs][render]") {
  const Workshop shop;
  shop.finish_v0();
  const auto source = sha256_hex(samples::kernel_text(0));
  for (const char* name : {"build.md", "correctness.md", "ncu_summary.md", "ncu_details.md",
                           "bench.json", "roofline.json", "kbs_evidence.md", "hypothesis.txt"}) {
    INFO(name);
    const auto text = text_of(shop.out() / "v0" / name);
    for (const auto& part :
         {shop.run.text, source, std::string("Test CPU"), std::string("g++ 12.2.0"),
          std::string("ratchet 0.1.0"), std::string("Z")})
      CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("kbs_evidence.md has one H1 and five H2 in order", "[runs][render]") {
  const Workshop shop;
  shop.finish_v0();
  CHECK(headings(text_of(shop.out() / "v0/kbs_evidence.md")) ==
        Lines{"# KBS Evidence - v0", "## NCU Facts", "## Queries", "## Selected Evidence",
              "## Rejected / Limits", "## Decision Link"});
}

TEST_CASE("hypothesis.txt has nine headings, each alone on its line, in order", "[runs][render]") {
  const Workshop shop;
  shop.check();
  shop.measure();
  shop.write_evidence();
  shop.write_hypothesis("unroll\nRisk:\nby four");  // a heading in prose becomes part of a line
  Lines found;
  std::istringstream in(text_of(shop.out() / "v0/hypothesis.txt"));
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line.back() == ':') found.push_back(line);

  CHECK(found ==
        Lines{"Version:", "Current evidence:", "Decision link:", "Single change:", "Rationale:",
              "Expected metric movement:", "Risk:", "Evidence used:", "Decision rule:"});
}

TEST_CASE("a host profile says that it was measured on the host", "[runs][render]") {
  const Workshop shop;
  shop.check();
  shop.measure();
  const auto text = text_of(shop.out() / "v0/ncu_summary.md");
  CHECK(headings(text).front() == "# NCU Profile Summary");
  CHECK(cell(text, "GPU", 1) == "none: measured on the host CPU, Test CPU");
  CHECK(cell(text, "Degraded", 1) == "yes: perf_event is not permitted");
  CHECK(text.find("None: perf_event is not permitted.") != std::string::npos);
}

TEST_CASE("counters are in kernel-opt-agent's categories, kernel by kernel", "[runs][render]") {
  const Workshop shop;
  shop.check();
  const auto granted = shop.permit(Event::profiled);
  auto profile = samples::profile(*granted.candidate, 1000);
  profile.kernels = {
      {"first", {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 40}, {"my_metric", 7}}},
      {"second", {{"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 2.5}}}};
  REQUIRE(shop.runs().record_profile(granted, profile));

  const auto text = text_of(shop.out() / "v0/ncu_summary.md");
  CHECK(headings(text, "## Kernel") == Lines{"## Kernel `first`", "## Kernel `second`"});
  CHECK(headings(text, "###") ==
        Lines{"### Speed of Light", "### Other", "### Stalls (ratio, not %)"});
}

TEST_CASE("a profile shows why launches were counted as one", "[runs][render]") {
  const Workshop shop;
  shop.check();
  const auto granted = shop.permit(Event::profiled);
  auto profile = samples::profile(*granted.candidate, 1000);
  profile.launches = 2;
  profile.counted_together = "they are nodes of a graph";
  REQUIRE(shop.runs().record_profile(granted, profile));

  CHECK(text_of(shop.out() / "v0/ncu_summary.md")
            .find("2, counted as one: they are nodes of a graph") != std::string::npos);
}

TEST_CASE("ncu_details.md has one row per metric and its context", "[runs][render]") {
  const Workshop shop;
  shop.check();
  shop.measure();
  const auto text = text_of(shop.out() / "v0/ncu_details.md");
  CHECK(text.find("| Metric | AvgValue | StdDev | Min | Max | Stable | Kernel |") !=
        std::string::npos);
  CHECK(cell(text, "`median_ns`", 1) == "1000");
  CHECK(headings(text).back() == "## Context");
}

TEST_CASE("benchmark.md shows unavailable baselines as such, never as numbers", "[runs][render]") {
  const auto shop = finished();
  const auto text = text_of(shop.out() / "benchmark.md");
  CHECK(headings(text).front() == "# Benchmark Report");
  CHECK(text.find("| Metric | Solution | v0 | torch-compile |") != std::string::npos);
  CHECK(cell(text, "Median Time (ms)", 1) == "0.0008");  // 800 ns
  CHECK(cell(text, "Median Time (ms)", 3) == "missing");
  CHECK(cell(text, "Speedup (vs v0, median)", 1) == "1.25");
  CHECK(cell(text, "Speedup (vs torch-compile, median)", 1) == "missing");
  CHECK(cell(text, "Kind", 1) == "final");
  CHECK(cell(text, "Geometric mean over W", 1) == "1.25 against v0");
}

TEST_CASE("final_report.md has its sections and comparison rows in order", "[runs][render]") {
  const auto shop = finished(on_gpu());
  const auto text = text_of(shop.out() / "final_report.md");
  CHECK(headings(text, "# ")
            .front()
            .starts_with("# CUDA Optimization Final Report - shift on Test GPU (20"));
  CHECK(headings(text, "## ") == Lines{"## Environment", "## Version Iteration Comparison",
                                       "## Optimization Strategies per Version",
                                       "## Hypothesis Outcomes", "## Failed Attempts",
                                       "## KBS Evidence", "## NCU + KBS Synthesis",
                                       "## Final Benchmark", "## Best Version Conclusion"});
  std::size_t at = 0;
  for (const char* row :
       {"Correctness", "Execution Time (ms)", "Speedup (x)", "Memory Throughput (%)",
        "Compute Throughput (%)", "SM Active Cycles (%)", "Bottleneck", "Achieved Occupancy (%)",
        "Active Warps / SM", "Registers / Thread", "Warp Stall - Long SB (%)",
        "Warp Stall - Short SB (%)", "Branch Divergence (%)", "Key metric notes"}) {
    const auto found = text.find(std::string("\n| ") + row + " |", at);
    INFO(row);
    REQUIRE(found != std::string::npos);
    at = found;
  }
}

TEST_CASE("the final report's cells come from the ledger", "[runs][render]") {
  const auto shop = finished();
  const auto text = text_of(shop.out() / "final_report.md");
  CHECK(cell(text, "Execution Time (ms)", 1) == "0.001");   // v0: 1000 ns
  CHECK(cell(text, "Execution Time (ms)", 2) == "0.0008");  // v1: 1000 / 1.25 ns
  CHECK(cell(text, "Speedup (x)", 2) == "1.25 (1.24 … 1.26)");
  CHECK(text.find("| v1 | use wider loads | improved | prose: accept_if and reject_if hold no "
                  "condition such as speedup >= 1.2 | median_ns: expected down, 1000 → 800 |") !=
        std::string::npos);
  CHECK(text.find("- Best version: v1") != std::string::npos);
  CHECK(text.find("\n> # My heading") !=
        std::string::npos);  // quoted, so not a heading of the report
}

TEST_CASE("a counter that is expected but absent is unknown, one never collected is N/A",
          "[runs][render]") {
  const Workshop shop(on_gpu());
  shop.check();
  const auto granted = shop.permit(Event::profiled);
  auto profile = samples::profile(*granted.candidate, 1000);
  profile.kernels = {{"k", {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", 40}}}};
  REQUIRE(shop.runs().record_profile(granted, profile));
  shop.write_evidence();
  shop.write_hypothesis();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1);
  REQUIRE(shop.gate(true).passed);
  REQUIRE(shop.runs().write_report(shop.run, ""));

  const auto text = text_of(shop.out() / "final_report.md");
  CHECK(cell(text, "Compute Throughput (%)", 1) == "40");
  CHECK(cell(text, "Memory Throughput (%)", 1) == "unknown");
  CHECK(cell(text, "Memory Throughput (%)", 2) == "N/A");
}

TEST_CASE("every headline is the final benchmark's, and other speedups say whose they are",
          "[runs][render]") {
  const auto shop = finished();
  const std::string result = "1.4x v0 (95 % interval 1.3 … 1.5), faster, by the final benchmark";
  CHECK(shop.status().headline == "v1: 800 ns, " + result);
  const auto again = shop.runs().write_report(shop.run, "");
  REQUIRE(again);
  CHECK(again->headline == "v1: 800 ns, " + result);
  for (const char* name : {"final_report.md", "summary.md", "report.html"}) {
    INFO(name);
    CHECK(text_of(shop.out() / name).find(result) != std::string::npos);
  }
  const auto report = text_of(shop.out() / "final_report.md");
  CHECK(report.find("v0 [n=1024]: 1.4 (1.3 … 1.5), paired") != std::string::npos);
  CHECK(report.find("those of each version's own profile") != std::string::npos);
  // The rule of promotion reads the same comparison.
  CHECK(shop.runs().review(shop.run, {})->promotion ==
        "v1: 1.4x v0, at least 1.3x, by its newest benchmark");
}

TEST_CASE("before the final benchmark the headline is a profile's, and says so", "[runs][render]") {
  const Workshop shop(1);
  shop.finish_v0();
  CHECK(shop.status().headline == "v0: 1 µs, no version is faster than v0");
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 1.25);
  CHECK(shop.status().headline ==
        "v1: 800 ns, 1.25x v0 (95 % interval 1.24 … 1.26), faster, by its profile; no final "
        "benchmark yet");
}

TEST_CASE("over several cases the headline is their weighted geometric mean", "[runs][render]") {
  const Workshop shop(samples::contract_of_two_cases());
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 1.25);
  REQUIRE(shop.gate(true).passed);
  const auto granted = shop.permit(Event::benchmarked);
  auto report = samples::benchmark(*granted.candidate, 800);
  report.rows[1].comparison = Comparison{"v0", 4, 2, 8, 50, 0.005, Verdict::faster};
  auto small = report.rows[1];
  small.dims = {{"n", 64}};
  small.comparison = Comparison{"v0", 1, 0.5, 2, 50, 0.005, Verdict::inconclusive};
  report.rows.push_back(small);
  REQUIRE(shop.runs().record_benchmark(granted, report));

  // √(4 · 1); the errors of two cases are independent, so the interval is narrower than √(2 · 0.5).
  CHECK(shop.status().headline.value_or("") ==
        "v1: 800 ns, 2x v0 (95 % interval 1.23 … 3.27), faster, by the final benchmark");
  const auto review = shop.runs().review(shop.run, {});
  REQUIRE(review);
  CHECK(review->promotion ==
        "v1: geometric mean 2x v0, at least 1.23x, over 2 cases of its newest benchmark, lowest "
        "1x, none slower");
}

TEST_CASE("an inconclusive version is called that", "[runs][render]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  shop.finish_version(1, 1.02, Verdict::inconclusive);
  REQUIRE(shop.gate(true).passed);
  REQUIRE(shop.runs().write_report(shop.run, ""));

  const auto text = text_of(shop.out() / "final_report.md");
  CHECK(text.find("| v1 | use wider loads | inconclusive |") != std::string::npos);
  CHECK(text.find("neutral") == std::string::npos);
}

TEST_CASE("a report of the processor speaks of the processor", "[runs][render]") {
  const auto shop = finished();
  const auto text = text_of(shop.out() / "final_report.md");
  CHECK(headings(text, "# ")
            .front()
            .starts_with("# Kernel Optimization Final Report - shift on Test CPU (20"));
  CHECK(headings(text, "## ") == Lines{"## Environment", "## Version Iteration Comparison",
                                       "## Optimization Strategies per Version",
                                       "## Hypothesis Outcomes", "## Failed Attempts",
                                       "## KBS Evidence", "## Profile + KBS Synthesis",
                                       "## Final Benchmark", "## Best Version Conclusion"});
  const auto page = text_of(shop.out() / "report.html");
  for (const char* foreign :
       {"Warp", "warps wait", "SM Active", "CUDA", "| unknown", "Not collected"}) {
    INFO(foreign);
    CHECK(text.find(foreign) == std::string::npos);
    CHECK(page.find(foreign) == std::string::npos);
  }
  CHECK(page.find("<h1>shift on Test CPU</h1>") != std::string::npos);
  // A GPU's page keeps the section, and says that nothing was collected.
  const auto other = finished(on_gpu());
  const auto gpu = text_of(other.out() / "report.html");
  CHECK(gpu.find("Where warps wait") != std::string::npos);
  CHECK(gpu.find("Not collected") != std::string::npos);
}

TEST_CASE("failed attempts are listed with what was wrong", "[runs][render]") {
  const Workshop shop(1);
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  const auto granted = shop.permit(Event::submitted);
  REQUIRE(shop.runs().record_build(granted, samples::failed_build("int"), std::nullopt));
  shop.submit(samples::kernel_text(7));
  shop.check(false);
  shop.finish_version(1);
  REQUIRE(shop.gate(true).passed);
  REQUIRE(shop.runs().write_report(shop.run, ""));

  for (const char* name : {"final_report.md", "report.html"}) {
    const auto text = text_of(shop.out() / name);
    INFO(name);
    CHECK(text.find("did not build (1 compiler errors)") != std::string::npos);
    CHECK(text.find("incorrect: 7 of 1024 elements differ") != std::string::npos);
  }
}

TEST_CASE("summary.md has its sections in order", "[runs][render]") {
  const auto shop = finished();
  CHECK(headings(text_of(shop.out() / "summary.md"), "## ") ==
        Lines{"## Environment", "## Headline", "## Roofline History", "## Iteration Timeline",
              "## Effective Methods (attribution-verified)", "## Ineffective Methods",
              "## Implementation-Failed Methods (SASS verification failed)", "## All Methods Tried",
              "## Frontier (unexplored branch candidates)", "## Retrospective"});
}

TEST_CASE("only gains that an interval confirms enter the optimization ledger", "[runs][render]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  CHECK(text_of(shop.out() / "ledgers/optimization-ledger.md").find("No verified gain yet.") !=
        std::string::npos);
  shop.finish_version(1, 1.25);
  shop.write_hypothesis("unroll the loop");
  REQUIRE(shop.gate().passed);

  const auto text = text_of(shop.out() / "ledgers/optimization-ledger.md");
  CHECK(text.find("| v1 | v0 | use wider loads | 1.25 | 1.24 … 1.26 | 50 |") != std::string::npos);
}

TEST_CASE("lineage.jsonl has one line of JSON per built version", "[runs][render]") {
  const auto shop = finished();
  std::istringstream in(text_of(shop.out() / "ledgers/lineage.jsonl"));
  std::vector<Json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));

  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["parent"].is_null());
  CHECK(lines[1]["parent"] == "v0");
  CHECK(lines[1]["motivation"] == "use wider loads");
  CHECK(lines[1]["result"] == "faster");
}

TEST_CASE("invalid UTF-8 does not stop a rendering", "[runs][render]") {
  const Workshop shop;
  shop.finish_v0();
  REQUIRE(shop.gate().passed);
  auto failed = samples::failed_build("int \xff");
  failed.build.errors[0].message = "stray \xff";

  CHECK(shop.runs().record_build(shop.permit(Event::submitted), failed, std::nullopt));
  CHECK(shop.status().stage == Stage::open);
}

}  // namespace
}  // namespace ratchet
