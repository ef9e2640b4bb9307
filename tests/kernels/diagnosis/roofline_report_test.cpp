#include "kernels/diagnosis/roofline_report.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace ratchet;
using Catch::Approx;

namespace {

/// 100 us of a kernel that moves 200 MB of DRAM and 300 MB of L2, and does 1 GFLOP in fp32, half of
/// it fused.
Profile profile_of(std::map<std::string, double> more = {}) {
  Profile profile;
  profile.timing.median = {100'000};
  profile.timing.clock = Megahertz{1000};
  std::map<std::string, double> metrics{
      {"gpu__time_duration.sum", 99'000},
      {"dram__bytes.sum", 200e6},
      {"l1tex__m_xbar2l1tex_read_bytes.sum", 200e6},
      {"l1tex__m_l1tex2xbar_write_bytes.sum", 100e6},
      {"sm__sass_data_bytes_mem_shared.sum", 64e6},
      {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 300e6},
      {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 200e6},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 250e6}};
  for (const auto& [name, value] : more) metrics[name] = value;
  profile.kernels = {{"kernel", metrics}};
  return profile;
}

const std::vector<Ceiling> kRoofs{{"copy_bandwidth", 4e12, "B/s"},
                                  {"l2_read_bandwidth", 10e12, "B/s"},
                                  {"fp32", 50e12, "FLOP/s"}};

RooflineReport report_of(const Profile& profile) {
  return roofline_report({&profile, kRoofs, std::nullopt, 100});
}

std::vector<int> spent(double compute, double memory, double latency) {
  const auto budget = package_budget(compute, memory, latency);
  return {budget.compute, budget.memory, budget.latency};
}

}  // namespace

TEST_CASE("every memory level is compared with its own roof", "[roofline]") {
  const auto profile = profile_of();
  const auto report = report_of(profile);
  REQUIRE(report.levels.size() == 3);

  CHECK(report.levels[0].fraction == Approx(0.5));  // 200 MB in 100 us: 2 of 4 TB/s
  CHECK(report.levels[1].fraction == Approx(0.3));  // 300 MB: 3 of 10 TB/s
  // 64 MB: 0.64 TB/s of 128 B x 100 SMs x 1 GHz = 12.8 TB/s
  CHECK(report.levels[2].fraction == Approx(0.05));
  CHECK(report.levels[2].ceiling_source == "derived");
  CHECK(report.binding == "dram");
  CHECK(report.headroom == Approx(0.5));
}

TEST_CASE("fused operations count twice, and intensity is per byte of the level", "[roofline]") {
  const auto profile = profile_of();
  const auto report = report_of(profile);
  REQUIRE(report.compute.size() == 1);

  CHECK(report.compute[0].flops == 1e9);             // 300 + 200 + 2 x 250 million
  CHECK(report.compute[0].fraction == Approx(0.2));  // 10 of 50 TFLOP/s
  CHECK(report.levels[0].intensity == Approx(5));
}

TEST_CASE("instructions on two halves count twice", "[roofline]") {
  auto profile = profile_of();
  profile.kernels = {{"kernel",
                      {{"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 10},
                       {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 20},
                       {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 30}}}};
  const auto report = report_of(profile);
  REQUIRE(report.compute.size() == 1);
  CHECK(report.compute[0].flops == 2 * 10 + 2 * 20 + 4 * 30);
  CHECK_FALSE(report.compute[0].ceiling);
  auto roofs = kRoofs;
  roofs.push_back({"fp16_pairs", 1e12, "FLOP/s"});
  const auto held = roofline_report({&profile, roofs, std::nullopt, 100});
  CHECK(held.compute.at(0).ceiling == 1e12);
}

TEST_CASE("a metric that is missing is no evidence", "[roofline]") {
  auto profile = profile_of();
  profile.kernels[0].metrics.erase("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
  const auto report = report_of(profile);

  CHECK(report.compute.empty());
  CHECK(report.binding == "dram");
  CHECK(report.compatible.delta_compute == 0.5);  // the package's degraded form: no DRAM throughput
  CHECK(report.compatible.degraded);
}

TEST_CASE("a kernel at one roof reaches the stop target regardless of the others", "[roofline]") {
  const auto profile = profile_of({{"dram__bytes.sum", 380e6},
                                   {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 93},
                                   {"sm__throughput.avg.pct_of_peak_sustained_elapsed", 20}});
  const auto report = report_of(profile);

  CHECK(report.stop_target);
  CHECK_FALSE(report.compatible.near_peak);  // the package wants all three gaps small
  CHECK(report.compatible.delta_memory == Approx(0.07));
  CHECK(report.compatible.delta_compute == Approx(0.8));
}

TEST_CASE("the budget is the package's", "[roofline]") {
  CHECK(spent(0.85, 0.60, 0.55) == std::vector{1, 1, 1});
  CHECK(spent(0.95, 0.05, 0.05) == std::vector{2, 1, 0});
  CHECK(spent(0.95, 0.04, 0.40) == std::vector{2, 0, 1});
  CHECK(spent(0.05, 0.05, 0.05) == std::vector{1, 1, 1});
}

TEST_CASE("without counters the declared work is used", "[roofline]") {
  Profile profile;
  profile.timing.median = {100'000};
  const auto report = roofline_report({&profile, kRoofs, WorkDone{100e6, 2e9, DType::f32}, 100});

  REQUIRE(report.levels.size() == 1);
  CHECK(report.levels[0].fraction == Approx(0.25));     // 1 of 4 TB/s
  CHECK(report.compute.at(0).fraction == Approx(0.4));  // 20 of 50 TFLOP/s
  CHECK(report.least_ns == Approx(40'000));  // 2 GFLOP at 50 TFLOP/s; the bytes need 25 us
}

TEST_CASE("without measurements the drawing is empty", "[roofline]") {
  const Profile profile;
  const auto report = roofline_report({&profile, {}, std::nullopt, 0});
  CHECK(report.binding == "unknown");
  CHECK(report.headroom == 1);
  CHECK_FALSE(report.stop_target);
  CHECK(roofline_svg(report).ends_with("</svg>\n"));
}

TEST_CASE("the drawing has a roof and a point for every level", "[roofline]") {
  const auto profile = profile_of();
  const auto report = report_of(profile);
  const auto svg = roofline_svg(report);
  std::size_t points = 0;
  for (auto at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1))
    ++points;

  CHECK(points == 3);
  CHECK(svg.find("dram 4e+12 B/s") != std::string::npos);
  CHECK(roofline_text(report).find("nearest roof: dram, headroom 50.0 %") != std::string::npos);
}
