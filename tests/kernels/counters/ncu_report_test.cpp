#include "kernels/counters/ncu_report.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "kernels/counters/ncu.h"
#include "server/core/files.h"
#include "tests/support/places.h"

using namespace ratchet;
using Catch::Approx;

namespace {

/// Output of ncu 2025.3.1 for two launches of a softmax on an H200, cut to some columns and rows.
std::string captured(const std::string& name) {
  const auto text = read_file(test::source_dir() / "tests/kernels/ncu" / name);
  REQUIRE(text);
  return *text;
}

NcuReport must_read(const std::string& text) {
  auto report = read_ncu_csv(text);
  if (!report) FAIL(report.error().message);
  return *std::move(report);
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

TEST_CASE("scaled and base units of one report give the same values", "[ncu]") {
  const auto scaled = must_read(captured("raw.csv"));
  const auto base = must_read(captured("raw_base.csv"));

  REQUIRE(scaled.kernels.size() == 2);
  REQUIRE(base.kernels.size() == 2);
  CHECK(scaled.page == NcuReport::Page::raw);
  for (std::size_t i = 0; i < 2; ++i)
    for (const auto& [name, value] : base.kernels[i].metrics) {
      INFO(name);
      // Scaled ones are rounded to six decimals.
      CHECK(scaled.kernels[i].metrics.at(name) == Approx(value).epsilon(1e-4));
    }
  // 31.264 us, 3.496843 Tbyte/s, 16.384 Kbyte, "4,096".
  CHECK(scaled.kernels[0].metrics.at("gpu__time_duration.sum") == Approx(31264));
  CHECK(scaled.kernels[1].metrics.at("gpu__time_duration.sum") == Approx(31712));
  CHECK(scaled.kernels[0].metrics.at("dram__bytes.sum.per_second") == Approx(3.496843e12));
  CHECK(scaled.kernels[0].metrics.at("launch__shared_mem_config_size") == Approx(16384));
  CHECK(scaled.kernels[0].metrics.at("launch__grid_size") == 4096);
}

TEST_CASE("a kernel is named as the other engine names it", "[ncu]") {
  CHECK(must_read(captured("raw.csv")).kernels[0].name == "(anonymous namespace)::softmax_kernel");
  const auto named = [](const std::string& name) {
    return must_read("\"ID\",\"Kernel Name\",\"sm__a.sum\"\n\"\",\"\",\"\"\n\"0\",\"" + name +
                     "\",\"1\"\n")
        .kernels.front()
        .name;
  };
  CHECK(named("_Z5scaleILi4EEvPf") == "scale<4>");
  CHECK(named("void scale<(int)4>(float *)") == "scale<4>");
  CHECK(named("triton_softmax") == "triton_softmax");
}

TEST_CASE("text values are distinguished from missing values", "[ncu]") {
  const auto report = must_read(captured("raw_base.csv"));

  CHECK(holds(report.not_numbers, "launch__cluster_scheduling_policy"));
  CHECK(holds(report.unavailable, "derived__local_spilling_requests_pct"));
  CHECK_FALSE(report.kernels[0].metrics.contains("launch__cluster_scheduling_policy"));
  // Device attributes are not part of the launch.
  CHECK_FALSE(report.kernels[0].metrics.contains("device__attribute_l2_cache_size"));
}

TEST_CASE("the details page gives metrics by name and ignores its remarks", "[ncu]") {
  const auto report = must_read(captured("details.csv"));

  REQUIRE(report.page == NcuReport::Page::details);
  REQUIRE(report.kernels.size() == 2);
  const auto& metrics = report.kernels[0].metrics;
  CHECK(metrics.at("gpu__time_duration.sum") == Approx(31260));
  CHECK(metrics.at("smsp__inst_executed.sum") == 7471104);
  // One label, two sections, two metrics: per cent of the peak, and Tbyte/s.
  CHECK(metrics.at("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed") ==
        Approx(72.75));
  CHECK(metrics.at("dram__bytes.sum.per_second") == Approx(3.5e12));
  CHECK(metrics.at("launch__shared_mem_config_size") == Approx(16380));
  CHECK(holds(report.not_numbers, "Launch Statistics: Cluster Scheduling Policy"));
  CHECK(holds(report.unavailable,
              "Memory Workload Analysis: Local Memory Spilling Request Overhead"));
}

TEST_CASE("program output before the table is skipped", "[ncu]") {
  const auto report =
      must_read("==PROF== Connected to process 7\nmy program, \"quoted\n" + captured("raw.csv"));
  CHECK(report.kernels.size() == 2);
}

TEST_CASE("damaged tables are refused with the line", "[ncu]") {
  const auto refusal = [](const std::string& text) {
    const auto report = read_ncu_csv(text);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::invalid_argument);
    CHECK(report.error().hint.find("--page raw") != std::string::npos);
    return report.error().message;
  };
  const auto whole = captured("raw.csv");
  CHECK(refusal("hello\n").find("not CSV of Nsight Compute") != std::string::npos);
  // The last launch, in line 4, lost its end.
  const auto last = whole.rfind("\"0\",\"9.0\"");
  CHECK(refusal(whole.substr(0, last + 4)).find("line 4: ") == 0);
  CHECK(refusal("\"ID\",\"Kernel Name\"\n\"\",\"\"\n").find("no kernel launch") !=
        std::string::npos);
  CHECK(refusal("\"ID\",\"sm__a.sum\"\n\"0\",\"1\"\n").find("Kernel Name") != std::string::npos);
  const auto open = read_ncu_csv(whole.substr(0, last + 2));
  REQUIRE_FALSE(open);
  CHECK(open.error().message.find("never closed") != std::string::npos);
}

TEST_CASE("thousands in numbers are grouped in threes", "[ncu]") {
  CHECK(*ncu_number("3,496,843,398,157.63") == Approx(3496843398157.63));
  CHECK(*ncu_number("-0.5") == -0.5);
  CHECK(*ncu_number("1e+06") == 1e6);
  for (const auto* text :
       {"", "1,5", "12,34", "1,2345", ",123", "1.234,567", "0x10", "5 %", "inf"}) {
    INFO(text);
    CHECK_FALSE(ncu_number(text));
  }
}

TEST_CASE("units are converted to nanoseconds, bytes and counts", "[ncu]") {
  CHECK(ncu_unit_factor("us") == 1e3);
  CHECK(ncu_unit_factor("Kbyte/block") == 1e3);
  CHECK(ncu_unit_factor("Gbyte/s") == 1e9);
  CHECK(ncu_unit_factor("Mhz") == 1e6);
  CHECK(ncu_unit_factor("Kcycle") == 1e3);
  // Not kilo-anything, not mega-anything.
  CHECK(ncu_unit_factor("register/thread") == 1);
  CHECK(ncu_unit_factor("SM") == 1);
  CHECK(ncu_unit_factor("%") == 1);
}

TEST_CASE("ncu runs with flushed caches and unchanged clocks, and keeps its report", "[ncu]") {
  const auto command = ncu_command({"/opt/ncu", "2025.3.1"}, MetricSet::full, {"a.sum", "b.sum"});

  const auto after = [&](const std::string& option) {
    const auto at = std::ranges::find(command, option);
    return at == command.end() ? "" : *(at + 1);
  };
  CHECK(command.front() == "/opt/ncu");
  CHECK(after("--clock-control") == "none");
  CHECK(after("--cache-control") == "all");
  CHECK(after("--export") == kNcuReport);
  CHECK(after("--set") == "full");
  CHECK(after("--metrics") == "a.sum,b.sum");
  CHECK_FALSE(holds(ncu_command({"/opt/ncu", ""}, MetricSet::lean, {"a.sum"}), "--set"));
}

TEST_CASE("without a report, ncu's log explains what to do", "[ncu]") {
  CHECK(ncu_trouble("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n")
            .find("check_env") != std::string::npos);
  CHECK(ncu_trouble("==WARNING== No kernels were profiled.\n").find("launches no kernel") !=
        std::string::npos);
  CHECK(ncu_trouble("==PROF== Connected\n==ERROR== Out of luck\n") == "ncu: Out of luck");
  CHECK(ncu_trouble("").find("neither a report nor a message") != std::string::npos);
}

TEST_CASE("a value beyond all numbers in its base unit is no number", "[ncu]") {
  const auto report = read_ncu_csv("ID,Kernel Name,dram__bytes.sum\n,,Tbyte\n0,f,1e300\n");
  REQUIRE(report);
  CHECK(report->kernels.at(0).metrics.empty());
  CHECK(report->not_numbers == std::vector<std::string>{"dram__bytes.sum"});
}
