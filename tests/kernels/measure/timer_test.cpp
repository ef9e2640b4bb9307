// Needs a GPU; skipped elsewhere. Further checks: tests/gpu/run.sh.

#include "kernels/measure/timer.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

using ratchet::measure::DeviceMemory;
using ratchet::measure::Gpu;
using ratchet::measure::Timer;
using ratchet::measure::TimingPlan;
using ratchet::measure::Turn;

namespace {

std::unique_ptr<Gpu> gpu_or_skip() {
  auto gpu = Gpu::open(0);
  if (!gpu) SKIP(gpu.error().message);
  return *std::move(gpu);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

}  // namespace

TEST_CASE("an empty call takes almost no time", "[cuda]") {
  const auto gpu = gpu_or_skip();
  auto timer = Timer::create(*gpu);
  REQUIRE(timer);
  const Turn nothing{[] {}, {}, {}};

  const auto sampled = (*timer)->time({&nothing, 1}, {.samples = 50});

  REQUIRE(sampled);
  CHECK(median(sampled->elapsed_ns) < 1000);
  CHECK(sampled->flags.empty());
}

TEST_CASE("reading 256 MiB runs at a plausible memory bandwidth", "[cuda]") {
  const auto gpu = gpu_or_skip();
  auto timer = Timer::create(*gpu);
  auto memory = DeviceMemory::allocate(std::size_t{256} << 20U);
  REQUIRE(timer);
  REQUIRE(memory);
  const Turn read{[&] { (void)gpu->read(*memory, 1); }, {}, {}};

  const auto sampled = (*timer)->time({&read, 1}, {.samples = 20});

  REQUIRE(sampled);
  // No GPU of 2026 reads at 10 TB/s; even the slowest card in production reaches 100 GB/s.
  const double rate = gpu->bytes_read(*memory, 1) / median(sampled->elapsed_ns);
  CHECK(rate > 100);
  CHECK(rate < 10000);
  CHECK(sampled->clock_mhz.size() == sampled->elapsed_ns.size());
}

TEST_CASE("work that is not there after the call is flagged", "[cuda]") {
  const auto gpu = gpu_or_skip();
  auto timer = Timer::create(*gpu);
  REQUIRE(timer);
  const Turn absent{[] {}, {}, [] { return false; }};

  const auto sampled = (*timer)->time({&absent, 1}, {.samples = 3});

  REQUIRE(sampled);
  CHECK(sampled->flags == std::vector<std::string>{"unsynchronised_work", "outputs_missing"});
}
