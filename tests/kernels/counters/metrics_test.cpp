#include "kernels/counters/metrics.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

namespace {

constexpr double kInputs = 64.0 * (1 << 20);

std::map<std::string, double> reads(double when_timed, double when_new) {
  return {{"dram_read_when_timed.bytes", when_timed}, {"dram_read_when_new.bytes", when_new}};
}

}  // namespace

TEST_CASE("a kernel whose inputs outlive the flush in a cache is warm when it is timed",
          "[counters]") {
  // Of 64 MiB, 28 MiB were found in L2.
  CHECK(warm_when_timed(reads(36.0 * (1 << 20), 64.0 * (1 << 20)), kInputs));
}

TEST_CASE("kernels that read the same in both calls are cold", "[counters]") {
  CHECK_FALSE(warm_when_timed(reads(64.0 * (1 << 20), 64.0 * (1 << 20)), kInputs));
  // It needs a tenth of its inputs. On new memory it reads that tenth, too.
  CHECK_FALSE(warm_when_timed(reads(6.4 * (1 << 20), 6.5 * (1 << 20)), kInputs));
  // Inputs of a few kilobytes: other traffic is as much.
  CHECK_FALSE(warm_when_timed(reads(20'000, 90'000), kInputs));
  // A different share of ones in the new input's values.
  CHECK_FALSE(warm_when_timed(reads(30.5 * (1 << 20), 32.0 * (1 << 20)), kInputs));
}

TEST_CASE("what is read more than once may be read again more or less often", "[counters]") {
  // An fp8 product of 32 MiB on an H200: all of its inputs come from memory in both calls.
  CHECK_FALSE(warm_when_timed(reads(36'127'488, 41'651'456), 33'600'000));
  // Less than everything once, or less than most of it.
  CHECK(warm_when_timed(reads(32'000'000, 41'651'456), 33'600'000));
  CHECK(warm_when_timed(reads(90'000'000, 150'000'000), 33'600'000));
}

TEST_CASE("a device that does not count what is read calls nothing warm", "[counters]") {
  CHECK_FALSE(warm_when_timed({}, kInputs));
  CHECK_FALSE(warm_when_timed({{"dram_read_when_timed.bytes", 1.0}}, kInputs));
}
