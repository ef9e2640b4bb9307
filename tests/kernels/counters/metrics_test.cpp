#include "kernels/counters/metrics.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

namespace {

std::map<std::string, double> reads(double when_timed, double when_new) {
  return {{"dram_read_when_timed.bytes", when_timed}, {"dram_read_when_new.bytes", when_new}};
}

}  // namespace

TEST_CASE("a kernel whose inputs outlive the flush in a cache is warm when it is timed",
          "[counters]") {
  // Of 64 MiB, 28 MiB were found in L2.
  CHECK(warm_when_timed(reads(36.0 * (1 << 20), 64.0 * (1 << 20))));
}

TEST_CASE("kernels that read the same in both calls are cold", "[counters]") {
  CHECK_FALSE(warm_when_timed(reads(64.0 * (1 << 20), 64.0 * (1 << 20))));
  // It needs a tenth of its inputs. On new memory it reads that tenth, too.
  CHECK_FALSE(warm_when_timed(reads(6.4 * (1 << 20), 6.5 * (1 << 20))));
  // Inputs of a few kilobytes: other traffic is as much.
  CHECK_FALSE(warm_when_timed(reads(20'000, 90'000)));
  // A different share of ones in the new input's values.
  CHECK_FALSE(warm_when_timed(reads(30.5 * (1 << 20), 32.0 * (1 << 20))));
}

TEST_CASE("a device that does not count what is read calls nothing warm", "[counters]") {
  CHECK_FALSE(warm_when_timed({}));
  CHECK_FALSE(warm_when_timed({{"dram_read_when_timed.bytes", 1.0}}));
}
