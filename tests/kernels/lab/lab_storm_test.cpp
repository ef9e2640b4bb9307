// Faults in a row. tests/attacks/faults.py does a thousand of them against a running server.

#include <unistd.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>

#include "kernels/process/descendants.h"
#include "tests/kernels/lab/lab_fixture.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

constexpr std::array kFaults{
    "*(volatile float*)8 = x[0];",
    "__builtin_trap();",
    "asm volatile(\"syscall\" : : \"a\"(231L), \"D\"(0L));",
    "for (int i = 0; i < 64; ++i) asm volatile(\"syscall\" : : \"a\"(57) : \"rcx\", \"r11\", "
    "\"memory\");",
    "for (;;) { volatile char* p = new char[64 << 20]; p[0] = 1; }",
    "for (;;) printf(\"line of noise %d\\n\", n);",
    "volatile int spin = 1; while (spin) {}"};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("faults in a row leave no process, no descriptor and no memory behind", "[lab][slow]") {
  LabFixture fixture;
  const auto storm = [&] {
    for (const auto* fault : kFaults) {
      const auto report =
          fixture.check(std::string("(void)x; (void)y; (void)n;") + fault, "#include <cstdio>");
      CHECK(report.fault);
      CHECK(descendants_of(::getpid()).empty());
    }
  };
  storm();
  const auto descriptors = open_descriptors();
  const auto memory = resident_bytes();

  for (int i = 0; i < 3; ++i) storm();

  CHECK(open_descriptors() == descriptors);
  CHECK(resident_bytes() < memory + (std::size_t{16} << 20U));
  CHECK(fixture.check(kHonestBody).passed);
}
