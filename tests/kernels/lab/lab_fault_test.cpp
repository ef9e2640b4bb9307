#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "kernels/process/descendants.h"
#include "tests/kernels/lab/lab_fixture.h"
#include "tests/support/sanitized.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

struct Seen {
  std::string kind;
  std::string message;
};

/// Checks a hostile kernel; the lab must survive without leftover processes and accept an honest
/// one.
Seen fault_of(const std::string& body, const std::string& preamble = "") {
  LabFixture fixture;
  const auto report = fixture.check(body, preamble);
  CHECK_FALSE(report.passed);
  CHECK(descendants_of(::getpid()).empty());
  REQUIRE(report.fault);
  CHECK(has_reason(report, "fault_" + report.fault->kind));
  CHECK(fixture.check(kHonestBody).passed);
  return {report.fault->kind, report.fault->message};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a crash is the kernel's fault, named by its signal", "[lab]") {
  const auto seen = fault_of("(void)n; *(volatile float*)8 = x[0]; (void)y;");

  CHECK(seen.kind == "crash");
  CHECK(contains(seen.message, "signal 11"));
}

TEST_CASE("a kernel that never returns is killed at its deadline", "[lab][slow]") {
  const auto begin = std::chrono::steady_clock::now();

  const auto seen = fault_of("volatile int spin = 1; while (spin) {} (void)x; (void)y; (void)n;");

  CHECK(seen.kind == "timeout");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("a kernel that exits its process successfully still fails", "[lab]") {
  // exit_group by the bare system call: the builder refuses `exit` already.
  const auto seen =
      fault_of("(void)x; (void)y; (void)n; asm volatile(\"syscall\" : : \"a\"(231L), \"D\"(0L));");

  CHECK(seen.kind == "exit");
}

TEST_CASE("a kernel that floods its output is stopped", "[lab]") {
  const auto seen = fault_of("(void)x; (void)y; for (;;) printf(\"line of noise %d\\n\", n);",
                             "#include <cstdio>");

  CHECK(seen.kind == "output_flood");
  CHECK(contains(seen.message, "line of noise"));
}

TEST_CASE("the output of a dying kernel is part of the finding", "[lab]") {
  const auto seen =
      fault_of("(void)x; (void)y; (void)n; fputs(\"assertion 42 failed\\n\", stderr); abort();",
               "#include <cstdio>\n#include <cstdlib>");

  CHECK(seen.kind == "crash");
  CHECK(contains(seen.message, "assertion 42 failed"));
}

TEST_CASE("a kernel that takes all memory is stopped by its limit", "[lab]") {
  if (kSanitized) SKIP("a sanitized worker has no limit");
  const auto seen = fault_of(
      "(void)x; (void)y; (void)n; for (;;) { volatile char* p = new char[64 << 20]; p[0] = 1; }");

  CHECK(seen.kind == "out_of_memory");
}

TEST_CASE("a kernel that starts processes is killed, and the call is named", "[lab]") {
  // Through the bare system call: the library function is refused by the builder already.
  const auto seen = fault_of(
      "(void)x; (void)y; (void)n;\n"
      "for (int i = 0; i < 64; ++i) asm volatile(\"syscall\" : : \"a\"(57) : \"rcx\", \"r11\", "
      "\"memory\");");

  CHECK(seen.kind == "forbidden_call");
  CHECK(contains(seen.message, "fork"));
}

TEST_CASE("a kernel that opens a socket is killed, and the call is named", "[lab]") {
  const auto seen = fault_of(
      "(void)x; (void)y; (void)n; long r = 41;\n"
      "asm volatile(\"syscall\" : \"+a\"(r) : \"D\"(2L), \"S\"(1L), \"d\"(0L) : \"rcx\", \"r11\", "
      "\"memory\");");

  CHECK(seen.kind == "forbidden_call");
  CHECK(contains(seen.message, "socket"));
}

TEST_CASE("a kernel cannot read files outside what it needs", "[lab]") {
  LabFixture fixture;
  const auto environment = fixture.lab->environment(0, fixture.call);
  REQUIRE(environment);
  const bool landlock = environment->sandbox.find(", Landlock") != std::string::npos;
  if (!landlock && ::geteuid() != 0) SKIP("neither Landlock nor another user for kernels here");
  TempFolder folder;
  const auto secret = folder.path() / "secret";
  std::ofstream(secret) << "key";
  using enum std::filesystem::perms;
  // With Landlock even a file that everybody may read; else one of the server's own.
  std::filesystem::permissions(folder.path(), owner_all | others_read | others_exec);
  std::filesystem::permissions(secret, landlock ? owner_read | others_read : owner_read);

  // Right where the file opens, and wrong where it does not.
  const auto report = fixture.check("long r = 2; asm volatile(\"syscall\" : \"+a\"(r) : \"D\"(\"" +
                                    secret.string() +
                                    "\"), \"S\"(0L) : \"rcx\", \"r11\", \"memory\");\n"
                                    "for (int i = 0; i < n; ++i) y[i] = r >= 0 ? 2 * x[i] : 0;");

  CHECK_FALSE(report.fault);
  CHECK(has_reason(report, "mismatch"));
}

TEST_CASE("a kernel that writes to the worker's channel is detected", "[lab]") {
  // A frame of sixteen bytes and two of JSON, for whichever descriptor is the channel.
  const auto seen = fault_of(
      "for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
      "const char frame[18] = {2, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, '{', '}'};\n"
      "long r = 1;\n"
      "asm volatile(\"syscall\" : \"+a\"(r) : \"D\"(3L), \"S\"(frame), \"d\"(18L) : \"rcx\", "
      "\"r11\", \"memory\");");

  CHECK(seen.kind == "forged_reply");
}

TEST_CASE("malformed bytes on the worker's channel are a forged answer too", "[lab]") {
  // Sixty-four bytes that announce a message of a gigabyte.
  const auto seen = fault_of(
      "for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
      "const unsigned frame[16] = {1u << 30};\n"
      "long r = 1;\n"
      "asm volatile(\"syscall\" : \"+a\"(r) : \"D\"(3L), \"S\"(frame), \"d\"(64L) : \"rcx\", "
      "\"r11\", \"memory\");");

  CHECK(seen.kind == "forged_reply");
}
