#include "kernels/counters/sanitizer_output.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace ratchet;

namespace {

/// Two threads past the end of one buffer, as reported by memcheck of CUDA 13.
constexpr const char* kOutOfBounds =
    "========= COMPUTE-SANITIZER\n"
    "the kernel printed this\n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at shift_right(const float *, float *, int)+0xd0 in kernel.cu:5\n"
    "=========     by thread (31,0,0) in block (3,0,0)\n"
    "=========     Access at 0x7f2a4ba00200 is out of bounds\n"
    "=========     and is 1 bytes after the nearest allocation at 0x7f2a4ba00000 of size 512 "
    "bytes\n"
    "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
    "=========         Host Frame: solve [0x11c4] in library.so\n"
    "========= \n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at shift_right(const float *, float *, int)+0xd0 in kernel.cu:5\n"
    "=========     by thread (0,0,0) in block (4,0,0)\n"
    "=========     Access at 0x7f2a4ba00204 is out of bounds\n"
    "========= \n"
    "========= Program hit cudaErrorLaunchFailure (error 719) due to \"unspecified launch "
    "failure\" "
    "on CUDA API call to cudaDeviceSynchronize.\n"
    "=========     Saved host backtrace up to driver entry point at error\n"
    "=========\n"
    "========= ERROR SUMMARY: 130 errors\n"
    "========= ERROR SUMMARY: 128 errors were not printed. Use --print-limit option to adjust the "
    "number of printed errors\n";

}  // namespace

TEST_CASE("reports of one kind at one place are one finding with its line", "[sanitizer]") {
  const auto output = parse_sanitizer_output(SanitizerTool::memcheck, kOutOfBounds);

  REQUIRE(output.findings.size() == 1);
  const auto& finding = output.findings.front();
  CHECK(finding.kind == "Invalid __global__ write");
  CHECK(finding.severity == "error");
  CHECK(finding.function == "shift_right(const float *, float *, int)");
  CHECK(finding.file == "kernel.cu");
  CHECK(finding.line == 5);
  CHECK(finding.count == 2);
  CHECK(finding.message.find("by thread (31,0,0)") != std::string::npos);
  CHECK(finding.message.find("Frame") == std::string::npos);
}

TEST_CASE("the tool's own count is used, including what it did not print", "[sanitizer]") {
  const auto output = parse_sanitizer_output(SanitizerTool::memcheck, kOutOfBounds);

  CHECK(output.finished);
  CHECK(output.errors == 130);  // not 2 printed, not 128 unprinted
  CHECK(output.trouble.find("cudaErrorLaunchFailure") != std::string::npos);
}

TEST_CASE("a race names the place of its first access and mentions the second", "[sanitizer]") {
  const auto output = parse_sanitizer_output(
      SanitizerTool::racecheck,
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Race reported between Write access at sum(float *)+0x90 in kernel.cu:13\n"
      "=========     and Read access at sum(float *)+0xa0 in kernel.cu:14 [2048 hazards]\n"
      "=========\n"
      "========= Warning: Race reported between Read access at sum(float *)+0xa0 in kernel.cu:14\n"
      "=========     and Write access at sum(float *)+0xb0 in kernel.cu:15 [4 hazards]\n"
      "=========\n"
      "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n");

  REQUIRE(output.findings.size() == 2);
  CHECK(output.findings[0].kind == "Race");
  CHECK(output.findings[0].line == 13);
  CHECK(output.findings[0].message.find("kernel.cu:14 [2048 hazards]") != std::string::npos);
  CHECK(output.findings[1].severity == "warning");
  CHECK(output.findings[1].line == 14);
}

TEST_CASE("the older form of a place and code without lines are understood", "[sanitizer]") {
  const auto older = parse_sanitizer_output(
      SanitizerTool::initcheck,
      "========= Uninitialized __global__ memory read of size 4 bytes\n"
      "=========     at 0x100 in /somewhere/sum.cu:30:sum(const int *, int *)\n"
      "=========\n");
  const auto bare =
      parse_sanitizer_output(SanitizerTool::synccheck,
                             "========= Barrier error detected. Divergent thread(s) in block\n"
                             "=========     at half(float *)+0x80\n"
                             "========= ERROR SUMMARY: 1 error\n");

  CHECK(older.findings.at(0).file == "sum.cu");
  CHECK(older.findings.at(0).line == 30);
  CHECK(older.findings.at(0).function == "sum(const int *, int *)");
  CHECK_FALSE(older.finished);
  CHECK(older.errors == 1);
  CHECK(bare.findings.at(0).kind == "Barrier error detected. Divergent thread(s) in block");
  CHECK(bare.findings.at(0).function == "half(float *)");
  CHECK(bare.findings.at(0).line == 0);
}

TEST_CASE("problems of the tool are not findings about the kernel", "[sanitizer]") {
  const auto output = parse_sanitizer_output(
      SanitizerTool::memcheck,
      "========= COMPUTE-SANITIZER\n"
      "========= Error: process didn't terminate successfully\n"
      "=========     The application may have hit an error on the host\n"
      "========= Target application terminated before first instrumented API call\n"
      "========= 768 errors were skipped\n"
      "========= Error buffer overflow has been detected. Some records have been dropped\n");

  CHECK(output.findings.empty());
  CHECK_FALSE(output.finished);
  CHECK(output.trouble.find("terminated before first") != std::string::npos);
}

TEST_CASE("findings beyond the cap are counted, and errors are kept", "[sanitizer]") {
  SanitizerReport report;
  for (std::size_t i = 0; i < kMostSanitizerFindings; ++i)
    report.findings.push_back({SanitizerTool::racecheck, "warning", "Race", "f", "a.cu", 1, "", 1});
  for (int line = 1; line <= 2; ++line)
    report.findings.push_back(
        {SanitizerTool::memcheck, "error", "Invalid", "f", "a.cu", line, "", 1});

  cap_findings(report);

  CHECK(report.findings.size() == kMostSanitizerFindings);
  CHECK(report.dropped == 2);
  CHECK(report.findings[0].severity == "error");
  CHECK(report.findings[1].severity == "error");
}

TEST_CASE("a report is clean only when every tool saw the whole call", "[sanitizer]") {
  SanitizerReport report;
  CHECK_FALSE(report.clean());
  report.runs = {{SanitizerTool::memcheck, true, 0, "", 1}};
  CHECK(report.clean());
  report.runs.push_back({SanitizerTool::racecheck, false, 0, "ran past its deadline", 1});
  CHECK_FALSE(report.clean());
}
