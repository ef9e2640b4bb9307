#include "kernels/diagnosis/intervention_plan.h"

#include <catch2/catch_test_macros.hpp>

#include "kernels/contract/layout.h"

using namespace ratchet;

namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

/// Rows and columns of floats, in and out: 8 bytes an element.
Contract rows_of_floats() {
  Contract contract;
  for (const auto role : {Role::in, Role::out}) {
    TensorSpec tensor;
    tensor.name = role == Role::in ? "x" : "y";
    tensor.dtype = DType::f32;
    tensor.shape = {"rows", "cols"};
    tensor.role = role;
    tensor.init = "normal";
    contract.tensors.push_back(tensor);
  }
  return contract;
}

KernelCounters kernel(std::map<std::string, double> metrics) {
  return {"k", std::move(metrics)};
}

/// A launch on 132 multiprocessors whose blocks are limited by registers.
KernelCounters limited_by_registers(double registers, double threads, double blocks) {
  return kernel({{"launch__registers_per_thread", registers},
                 {"launch__block_size", threads},
                 {"launch__occupancy_limit_registers", blocks},
                 {"launch__occupancy_limit_shared_mem", 32},
                 {"launch__occupancy_limit_blocks", 32},
                 {"launch__occupancy_limit_warps", 64 / (threads / 32)}});
}

}  // namespace

TEST_CASE("the size for warm caches is the largest that fits, halved as evenly as possible",
          "[diagnosis][interventions]") {
  const auto contract = rows_of_floats();
  const Dims full{{"cols", 4096}, {"rows", 4096}};
  // 128 MiB of tensors. Half of an H200's cache is 30 MiB: three halvings leave 16 MiB.
  const auto sizes = sizes_that_fit(contract, full, 30 * kMebi);
  REQUIRE_FALSE(sizes.empty());
  for (const auto& size : sizes) CHECK(size.at("rows") * size.at("cols") == 4096 * 4096 / 8);
  CHECK(std::min(sizes[0].at("rows"), sizes[0].at("cols")) == 1024);
  CHECK(layout_of(contract, sizes[0])->bytes <= 30 * kMebi);
}

TEST_CASE("tensors that fit need no smaller size, and those that never fit have none",
          "[diagnosis][interventions]") {
  const auto contract = rows_of_floats();
  CHECK(sizes_that_fit(contract, {{"cols", 64}, {"rows", 64}}, kMebi).empty());
  CHECK(sizes_that_fit(contract, {{"cols", 4096}, {"rows", 4096}}, 1).empty());
}

TEST_CASE("a size that breaks the contract's relations is not used", "[diagnosis][interventions]") {
  auto contract = rows_of_floats();
  contract.where = {"cols == 4096"};
  const auto sizes = sizes_that_fit(contract, {{"cols", 4096}, {"rows", 4096}}, 30 * kMebi);
  REQUIRE(sizes.size() >= 1);
  for (const auto& size : sizes) CHECK(size.at("cols") == 4096);
  CHECK(sizes[0].at("rows") == 512);
}

TEST_CASE("a call is far above its launches by their number", "[diagnosis][interventions]") {
  CHECK(far_above_launch(30'000, 1));
  CHECK_FALSE(far_above_launch(10'000, 1));
  CHECK_FALSE(far_above_launch(30'000, 2));
  CHECK_FALSE(far_above_launch(1e9, 0));  // unknown
}

TEST_CASE("half of the blocks are half of the warps only where nearly all are there, in waves",
          "[diagnosis][interventions]") {
  const auto with = [](double grid, double waves, double achieved) {
    return kernel({{"launch__grid_size", grid},
                   {"launch__waves_per_multiprocessor", waves},
                   {"sm__warps_active.avg.pct_of_peak_sustained_active", achieved},
                   {"sm__maximum_warps_per_active_cycle_pct", 25}});
  };
  // 1056 blocks are 4 waves of 2 on 132 multiprocessors.
  CHECK(resident_blocks(with(1056, 4, 24), 132) == 2);
  CHECK(has_blocks_to_spare(with(1056, 4, 24), 132));
  CHECK_FALSE(has_blocks_to_spare(with(528, 4, 24), 132));   // one is resident
  CHECK_FALSE(has_blocks_to_spare(with(264, 1, 24), 132));   // they may wait for each other
  CHECK_FALSE(has_blocks_to_spare(with(1056, 4, 10), 132));  // most of them are not there anyway
  CHECK_FALSE(has_blocks_to_spare(kernel({}), 132));
}

TEST_CASE("the cap is the next number of registers with which one more block fits",
          "[diagnosis][interventions]") {
  // 8 warps of 128 registers: 16 warps of 65536 / (128 * 32). With 80, 24 warps are three blocks.
  CHECK(register_cap(limited_by_registers(128, 256, 2)) == 80);
  // 168 registers leave 12 warps, three blocks of 4; with 128 they are 16 warps, four blocks.
  CHECK(register_cap(limited_by_registers(168, 128, 3)) == 128);
}

TEST_CASE("where registers are not what limits the blocks there is no cap",
          "[diagnosis][interventions]") {
  auto shared = limited_by_registers(128, 256, 2);
  shared.metrics["launch__occupancy_limit_shared_mem"] = 2;
  CHECK_FALSE(register_cap(shared));
  CHECK_FALSE(register_cap(kernel({})));
  CHECK_FALSE(register_cap(limited_by_registers(24, 1024, 2)));  // all warps are there
}

TEST_CASE("a halved dim halves the blocks alone if each of them has as much to do",
          "[diagnosis][interventions]") {
  const auto grid = [](double blocks) { return kernel({{"launch__grid_size", blocks}}); };
  CHECK(halves_blocks_alone(grid(32), grid(16), 0.5));
  CHECK(halves_blocks_alone(grid(32), grid(16), 0.75));  // another tensor does not depend on it
  CHECK_FALSE(
      halves_blocks_alone(grid(32), grid(32), 0.5));  // a fixed grid, or a size below a tile
  CHECK_FALSE(halves_blocks_alone(grid(32), grid(8), 0.25));   // both dims of a grid
  CHECK_FALSE(halves_blocks_alone(grid(32), grid(16), 0.25));  // shorter rows, too
  CHECK_FALSE(halves_blocks_alone(grid(32), kernel({}), 0.5));
}
