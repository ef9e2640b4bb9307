#include "kernels/counters/rocprof_report.h"

#include <sqlite3.h>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <map>

#include "server/core/files.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using Catch::Approx;

namespace {

// Files of our own in the formats of rocprofv3 7 and rocprof-compute 3; docs/limitations.md says
// what they were held against.
std::string example(const std::string& name) {
  const auto text = read_file(test::source_dir() / "tests/kernels/rocprof" / name);
  REQUIRE(text);
  return *text;
}

RocprofReport reported(const Result<RocprofReport>& report) {
  if (!report) FAIL(report.error().message);
  return *report;
}

/// A database with rocprofv3's tables for one dispatch and two counters. `more`: SQL.
std::string database(const std::string& more = "", bool times_apart = false) {
  const test::TempFolder folder;
  const auto path = folder.path() / "results.db";
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
  const std::string times =
      times_apart ? "start_id INTEGER, end_id INTEGER" : "start BIGINT, \"end\" BIGINT";
  const std::string script =
      "CREATE TABLE rocpd_info_agent_77 (id INTEGER PRIMARY KEY, type TEXT, name TEXT, "
      "product_name TEXT);"
      "INSERT INTO rocpd_info_agent_77 VALUES (1, 'CPU', 'x', 'a processor'), "
      "(2, 'GPU', 'gfx942', 'AMD Instinct MI300X');"
      "CREATE TABLE rocpd_info_kernel_symbol_77 (id INTEGER PRIMARY KEY, kernel_name TEXT, "
      "display_name TEXT, sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER);"
      "INSERT INTO rocpd_info_kernel_symbol_77 VALUES (7, '_Z8row_sumsPKfPfi.kd', "
      "'row_sums(float const*, float*, int)', 32, 24, 8);"
      "CREATE TABLE rocpd_kernel_dispatch_77 (id INTEGER PRIMARY KEY, kernel_id INTEGER, " +
      times +
      ", group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, "
      "workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, "
      "event_id INTEGER);"
      "INSERT INTO rocpd_kernel_dispatch_77 VALUES (1, 7, " +
      std::string(times_apart ? "1, 2" : "1000000, 1020000") +
      ", 1024, 64, 4, 1, 1024, 256, 1, 5);"
      "CREATE TABLE rocpd_timestamp_77 (id INTEGER PRIMARY KEY, value BIGINT);"
      "INSERT INTO rocpd_timestamp_77 VALUES (1, 1000000), (2, 1020000);"
      "CREATE TABLE rocpd_info_pmc_77 (id INTEGER PRIMARY KEY, name TEXT);"
      "INSERT INTO rocpd_info_pmc_77 VALUES (1, 'FETCH_SIZE'), (2, 'SQ_WAVES');"
      "CREATE TABLE rocpd_pmc_event_77 (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, "
      "value REAL);"
      "INSERT INTO rocpd_pmc_event_77 VALUES (1, 5, 1, 16384.5), (2, 5, 2, 1024), (3, 5, 2, "
      "3072);" +
      more;
  char* why = nullptr;
  const int code = sqlite3_exec(handle, script.c_str(), nullptr, nullptr, &why);
  INFO((why ? why : ""));
  sqlite3_free(why);
  REQUIRE(code == SQLITE_OK);
  sqlite3_close(handle);
  return read_file(path).value();
}

/// 20 µs, 256 x 4 blocks of 256 threads, 32 registers, 16384.5 kB read.
void check_row_sums(const KernelCounters& kernel) {
  CHECK(kernel.metrics.at("gpu__time_duration.sum") == 20'000);
  CHECK(kernel.metrics.at("launch__block_size") == 256);
  CHECK(kernel.metrics.at("launch__grid_size") == 1024);
  CHECK(kernel.metrics.at("launch__shared_mem_per_block") == 1024);
  CHECK(kernel.metrics.at("dram__bytes_read.sum") == 16384.5 * 1024);
  CHECK_FALSE(kernel.metrics.contains("start"));
}

}  // namespace

TEST_CASE("counters of rocprofv3 are read per dispatch, instances of one added up", "[rocprof]") {
  const auto report = reported(read_rocprof(example("counter_collection.csv")));

  CHECK(report.format == "rocprofv3_csv");
  REQUIRE(report.kernels.size() == 2);
  CHECK(report.kernels[0].name == "row_sums<float>");
  check_row_sums(report.kernels[0]);
  CHECK(report.kernels[0].metrics.at("launch__registers_per_thread") == 32);
  CHECK(report.kernels[0].metrics.at("TCC_HIT") == 800);
  // (16384.5 + 64) kB in 20 µs.
  CHECK(report.kernels[0].metrics.at("dram__bytes.sum.per_second") ==
        Approx((16384.5 + 64) * 1024 / 20e-6));
  CHECK(report.kernels[1].metrics.at("sm__warps_active.avg.pct_of_peak_sustained_active") == 0.425);
  // 1000 work-items in groups of 64.
  CHECK(report.kernels[1].metrics.at("launch__grid_size") == 16);
}

TEST_CASE("a kernel trace has times and shapes without counters", "[rocprof]") {
  const auto report = reported(read_rocprof(example("kernel_trace.csv")));

  REQUIRE(report.kernels.size() == 2);
  CHECK(report.kernels[0].metrics.at("gpu__time_duration.sum") == 20'000);
  CHECK(report.kernels[0].metrics.at("launch__grid_size") == 1024);
  CHECK(report.kernels[1].metrics.at("gpu__time_duration.sum") == 1'500);
}

TEST_CASE("a kernel trace of ROCm 6 has segments and no registers", "[rocprof]") {
  const auto report = reported(read_rocprof(example("kernel_trace_rocm6.csv")));

  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].metrics ==
        std::map<std::string, double>{{"gpu__time_duration.sum", 20'000},
                                      {"launch__block_size", 256},
                                      {"launch__grid_size", 1024},
                                      {"launch__shared_mem_per_block", 1024},
                                      {"scratch_bytes", 16}});
}

TEST_CASE("dispatches of several processes are told apart", "[rocprof]") {
  const auto report =
      reported(read_rocprof("Guid,Process_Id,Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value\n"
                            "a,700,1,f,SQ_WAVES,10\n"
                            "a,701,1,f,SQ_WAVES,20\n"
                            "b,700,1,f,SQ_WAVES,40\n"
                            "a,700,1,f,SQ_WAVES,1\n"));
  REQUIRE(report.kernels.size() == 3);
  CHECK(report.kernels[0].metrics.at("SQ_WAVES") == 11);
  CHECK(report.kernels[2].metrics.at("SQ_WAVES") == 40);
}

TEST_CASE("kernels lose parameters and object suffixes, and nothing of their own", "[rocprof]") {
  CHECK(plain_kernel_name("void sums<float, 4>(float const*, float*) [clone .kd]") ==
        "sums<float, 4>");
  CHECK(plain_kernel_name("_Z4sumsPf.kd") == "_Z4sumsPf");
  CHECK(plain_kernel_name("void (anonymous namespace)::sums<(Kind)3>(float*, void (*)(int))") ==
        "(anonymous namespace)::sums<(Kind)3>");
  CHECK(plain_kernel_name("(x)") == "(x)");
}

TEST_CASE("rocprof-compute's counters have a column each", "[rocprof]") {
  const auto report = reported(read_rocprof(example("pmc_perf.csv")));

  CHECK(report.format == "rocprof_compute_csv");
  REQUIRE(report.kernels.size() == 2);
  CHECK(report.kernels[0].name == "row_sums");
  CHECK(report.kernels[0].metrics.at("SQ_WAVES") == 4096);
  CHECK(report.kernels[0].metrics.at("lts__t_sector_hit_rate.pct") == 90);
  // Mean times of several passes.
  CHECK(report.kernels[0].metrics.at("gpu__time_duration.sum") == 20'000);
  CHECK(report.unavailable == std::vector<std::string>{"SQ_INSTS_MFMA"});
}

TEST_CASE("rocprof-compute's averages are one entry with units and shares of the peak",
          "[rocprof]") {
  const auto report = reported(read_rocprof(example("speed_of_light.csv")));

  REQUIRE(report.kernels.size() == 1);
  CHECK(report.kernels[0].metrics.at("HBM Bandwidth, Gb/s") == 2650);
  CHECK(report.kernels[0].metrics.at("HBM Bandwidth, % of peak") == 50);
  CHECK(report.unavailable == std::vector<std::string>{"MFMA FLOPs (F16), Gflop"});
  // Releases differ in their columns.
  const auto other = reported(
      read_rocprof("Metric,Value,Unit,Peak (Empirical),PoP\nHBM Bandwidth,2226,Gbyte/s,4000,55\n"));
  CHECK(other.format == "rocprof_compute_csv");
  CHECK(other.kernels.at(0).metrics ==
        std::map<std::string, double>{{"HBM Bandwidth, Gbyte/s", 2226},
                                      {"HBM Bandwidth, % of peak", 55}});
}

TEST_CASE("JSON of rocprofv3 names the device, kernels and counters", "[rocprof]") {
  const auto report = reported(read_rocprof(example("results.json")));

  CHECK(report.format == "rocprofv3_json");
  CHECK(report.device == "AMD Instinct MI300X");
  REQUIRE(report.kernels.size() == 3);
  CHECK(report.kernels[0].name == "row_sums");
  check_row_sums(report.kernels[0]);
  CHECK(report.kernels[0].metrics.at("SQ_WAVES") == 4096);
  CHECK(report.kernels[1].name == "kernel 9");
  CHECK(report.kernels[1].metrics.at("launch__shared_mem_per_block") == 512);
  // Of a dispatch without counters, the symbol of its kernel has the registers.
  for (const auto at : {0, 2})
    CHECK(report.kernels.at(at).metrics.at("launch__registers_per_thread") == 32);
}

TEST_CASE("a rocpd database is read in both versions of its schema", "[rocprof]") {
  for (const bool times_apart : {false, true}) {
    INFO("times in a table of their own: " << times_apart);
    const auto report = reported(read_rocpd(database("", times_apart)));

    CHECK(report.format == "rocpd");
    CHECK(report.device == "AMD Instinct MI300X");
    REQUIRE(report.kernels.size() == 1);
    check_row_sums(report.kernels[0]);
    CHECK(report.kernels[0].name == "row_sums");
    CHECK(report.kernels[0].metrics.at("SQ_WAVES") == 4096);
    CHECK(report.kernels[0].metrics.at("launch__registers_per_thread") == 32);
  }
}

TEST_CASE("a merged rocpd database has the dispatches of all processes", "[rocprof]") {
  // The other's dispatch has the same event, half of the waves, and a kernel without a symbol.
  const auto report = reported(read_rocpd(database(
      "CREATE TABLE rocpd_info_kernel_symbol_78 AS SELECT * FROM rocpd_info_kernel_symbol_77 "
      "WHERE 0;"
      "CREATE TABLE rocpd_kernel_dispatch_78 AS SELECT * FROM rocpd_kernel_dispatch_77;"
      "CREATE TABLE rocpd_info_pmc_78 AS SELECT * FROM rocpd_info_pmc_77;"
      "CREATE TABLE rocpd_pmc_event_78 AS SELECT event_id, pmc_id, value / 2 AS value "
      "FROM rocpd_pmc_event_77;")));
  REQUIRE(report.kernels.size() == 2);
  check_row_sums(report.kernels[0]);
  CHECK(report.kernels[0].metrics.at("SQ_WAVES") == 4096);
  CHECK(report.kernels[1].name == "kernel 7");
  CHECK(report.kernels[1].metrics.at("gpu__time_duration.sum") == 20'000);
  CHECK(report.kernels[1].metrics.at("SQ_WAVES") == 2048);
  CHECK_FALSE(report.kernels[1].metrics.contains("launch__registers_per_thread"));
}

TEST_CASE("a database whose tables are views or endless is refused in bounded time",
          "[rocprof][slow]") {
  const auto refused = [](const std::string& more) {
    const auto report = read_rocpd(database(more));
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::invalid_argument);
    CHECK_FALSE(report.error().hint.empty());
  };
  refused(
      "DROP TABLE rocpd_info_kernel_symbol_77;"
      "CREATE VIEW rocpd_info_kernel_symbol_77 AS SELECT 7 AS id, 'a' AS kernel_name, "
      "'a' AS display_name, 1 AS sgpr_count, 1 AS arch_vgpr_count, 1 AS accum_vgpr_count;");
  // Without keys each of a hundred thousand events is compared with each of as many counters.
  refused(
      "DROP TABLE rocpd_info_pmc_77; DROP TABLE rocpd_pmc_event_77;"
      "CREATE TABLE rocpd_info_pmc_77 (id TEXT, name TEXT);"
      "CREATE TABLE rocpd_pmc_event_77 (event_id INTEGER, pmc_id INTEGER, value REAL);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
      "INSERT INTO rocpd_info_pmc_77 SELECT i % 3, 'x' FROM n;"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
      "INSERT INTO rocpd_pmc_event_77 SELECT 5, i % 3, 1 FROM n;");
}

TEST_CASE("a file that these tools did not write is refused with what to give", "[rocprof]") {
  for (const std::string text :
       {"", "a,b\n1,2\n", "{\"traceEvents\": []}", "{\"rocprofiler-sdk-tool\": [{}]}",
        "Dispatch_ID,Kernel_Name\n", "Dispatch_ID,Kernel_Name\n1\n", "Metric_ID,Metric\n1,a\n",
        "Dispatch_ID,Kernel_Name\n1,\n"}) {
    INFO(text);
    const auto report = read_rocprof(text);
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::invalid_argument);
    CHECK_FALSE(report.error().hint.empty());
  }
  CHECK_FALSE(read_rocpd("SQLite format 3"));
  CHECK_FALSE(read_rocpd(database().substr(0, 5000)));
  CHECK_FALSE(is_rocprof("\"ID\",\"Kernel Name\"\n"));
  CHECK_FALSE(
      is_rocprof("\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"));
}
